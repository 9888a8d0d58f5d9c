/**
 * Validates a value against a structural schema, in the API server's words. On an update, values equal to their old
 * ones are not checked (ratcheting).
 */
import { oldField, oldItems } from './correlate.ts';
import { sameJson } from './equality.ts';
import { type FieldError, invalid, notSupported, required, tooLong, tooMany, typeInvalid } from './field-error.ts';
import { hasFormat, isCheckedFormat } from './formats.ts';
import { goRegExp } from './go-regexp.ts';
import { quoted } from './go-text.ts';
import { isList, isObject } from './json-object.ts';
import type { Json, JsonObject, Schema } from './schema.ts';

/** The errors of a value, and the number of checks that ran. Of several alternatives, the one with the most checks is closest. */
class Findings {
  readonly errors: FieldError[] = [];
  checks = 0;

  add(other: Findings): void {
    this.errors.push(...other.errors);
    this.checks += other.checks;
  }
}

/** All errors of the value; `path` is empty for a whole object. */
export function validateSchema(value: Json, schema: Schema, path = '', old?: Json): FieldError[] {
  const findings = new Findings();
  check(value, schema, path, old, findings);
  return findings.errors;
}

function check(value: Json, schema: Schema, path: string, old: Json | undefined, out: Findings): void {
  if (old !== undefined && sameJson(value, old)) return;
  checkType(value, schema, path, out);
  if (value === null) {
    checkEnum(value, schema, path, out);
    return;
  }
  checkAlternatives(value, schema, path, out);
  if (typeof value === 'string') checkString(value, schema, path, out);
  else if (typeof value === 'number') checkNumber(value, schema, path, out);
  else if (isList(value)) checkList(value, schema, path, old, out);
  checkEnum(value, schema, path, out);
  if (isObject(value)) checkObject(value, schema, path, old, out);
  out.checks += 2;
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function checkType(value: Json, schema: Schema, path: string, out: Findings): void {
  const types: readonly string[] = schema['x-kubernetes-int-or-string']
    ? ['integer', 'string']
    : schema.type === undefined
      ? []
      : [schema.type];
  if (types.length === 0) return;
  const actual = typeOf(value);
  if (value === null && schema.nullable === true) return;
  if (types.includes(actual) || (actual === 'integer' && types.includes('number'))) {
    out.checks += 2;
    return;
  }
  // kube-apiserver does not report a list in place of a formatted string.
  const formatted = schema.type === 'string' && schema.format !== undefined && isCheckedFormat(schema.format);
  if (formatted && actual === 'array') return;
  const wanted = formatted && value !== null ? (schema.format as string) : types.join(',');
  const shown = formatted && value !== null ? '' : actual;
  out.errors.push(typeInvalid(path, shown, `${path} in body must be of type ${wanted}: ${quoted(shown)}`));
}

function checkString(value: string, schema: Schema, path: string, out: Findings): void {
  out.checks++;
  const problem = stringProblem(value, schema, path);
  if (problem !== undefined) out.errors.push(problem);
  const { format } = schema;
  if (format !== undefined && (schema.type === 'string' || schema.type === undefined) && !hasFormat(value, format)) {
    out.errors.push(typeInvalid(path, value, `${path} in body must be of type ${format}: ${quoted(value)}`));
  }
}

function stringProblem(value: string, schema: Schema, path: string): FieldError | undefined {
  const { maxLength, minLength, pattern } = schema;
  if (maxLength !== undefined || minLength !== undefined) {
    // Counts code points, as Go counts runes.
    const length = isAscii(value) ? value.length : [...value].length;
    if (maxLength !== undefined && length > maxLength) return tooLong(path, maxLength);
    if (minLength !== undefined && length < minLength) {
      return invalid(path, value, `${path} in body should be at least ${minLength} chars long`);
    }
  }
  if (pattern !== undefined && pattern !== '' && goRegExp(pattern)?.test(value) === false) {
    return invalid(path, value, `${path} in body should match '${pattern}'`);
  }
  return undefined;
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 127) return false;
  return true;
}

function checkNumber(value: number, schema: Schema, path: string, out: Findings): void {
  out.checks += 2;
  const { type, format, multipleOf, minimum, maximum } = schema;
  if (type === 'integer' && !fitsInteger(value, format)) {
    const named = format === 'int32' || format === 'int64' ? `with format ${format}` : '(default format)';
    out.errors.push(pathless(`Checked value must be of type integer ${named} in ${path}`));
  }
  if (multipleOf !== undefined) {
    // For whole numbers the factor is truncated, so a factor below 1 becomes 0.
    const factor = Number.isInteger(value) ? Math.trunc(multipleOf) : multipleOf;
    if (factor <= 0) {
      out.errors.push(invalid(path, factor, `factor MultipleOf declared for ${path} must be positive: ${factor}`));
    } else if (!isMultiple(value, factor)) {
      out.errors.push(invalid(path, value, `${path} in body should be a multiple of ${factor}`));
    }
  }
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    const phrase = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
    out.errors.push(invalid(path, value, `${path} in body should be ${phrase} ${minimum}`));
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    const phrase = schema.exclusiveMaximum ? 'less than' : 'less than or equal to';
    out.errors.push(invalid(path, value, `${path} in body should be ${phrase} ${maximum}`));
  }
}

function fitsInteger(value: number, format: string | undefined): boolean {
  if (!Number.isInteger(value)) return false;
  return format === 'int32' ? value >= -2147483648 && value <= 2147483647 : Math.abs(value) <= 2 ** 63;
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

function checkEnum(value: Json, schema: Schema, path: string, out: Findings): void {
  const allowed = schema.enum;
  out.checks++;
  if (allowed === undefined || allowed.length === 0 || allowed.some((candidate) => sameJson(value, candidate))) return;
  const texts = allowed.map((candidate) => (typeof candidate === 'string' ? candidate : JSON.stringify(candidate)));
  out.errors.push(notSupported(path, value, texts));
}

function checkList(list: readonly Json[], schema: Schema, path: string, old: Json | undefined, out: Findings): void {
  const { items, minItems, maxItems } = schema;
  if (items !== undefined) {
    const oldItem = oldItems(old, schema);
    for (const [index, item] of list.entries()) check(item, items, `${path}[${index}]`, oldItem(item), out);
  }
  if (minItems !== undefined && list.length < minItems) {
    out.errors.push(invalid(path, list.length, `${path} in body should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && list.length > maxItems) out.errors.push(tooMany(path, list.length, maxItems));
  if (schema.uniqueItems === true && list.some((item, index) => list.slice(0, index).some((x) => sameJson(x, item)))) {
    out.errors.push(invalid(path, '', `${path} in body shouldn't contain duplicates`));
  }
  out.checks += 2;
}

function checkObject(object: JsonObject, schema: Schema, path: string, old: Json | undefined, out: Findings): void {
  const { properties, additionalProperties, minProperties, maxProperties } = schema;
  const keys = Object.keys(object);
  if (minProperties !== undefined && keys.length < minProperties) {
    out.errors.push(invalid(path, keys.length, `${path} in body should have at least ${minProperties} properties`));
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    out.errors.push(tooMany(path, keys.length, maxProperties));
  }
  for (const key of keys) {
    const value = object[key] as Json;
    if (properties !== undefined && Object.hasOwn(properties, key)) {
      // apiVersion and kind are always checked: both objects are in the same version, so these fields never differ.
      const before = path === '' && (key === 'apiVersion' || key === 'kind') ? undefined : oldField(old, key);
      check(value, properties[key] as Schema, path === '' ? key : `${path}.${key}`, before, out);
    } else if (typeof additionalProperties === 'object') {
      check(value, additionalProperties, `${path}.${key}`, oldField(old, key), out);
    } else if (additionalProperties === false) {
      out.errors.push(invalid(path, key, `${path}.${key} in body is a forbidden property`));
    }
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(object, name)) out.errors.push(required(path === '' ? name : `${path}.${name}`));
  }
  out.checks++;
}

/** Errors about alternatives have no field, as in kube-apiserver. */
function pathless(detail: string): FieldError {
  return invalid('<nil>', '', detail);
}

function checkAlternatives(value: Json, schema: Schema, path: string, out: Findings): void {
  const { anyOf, oneOf, allOf, not } = schema;
  out.checks += 2;
  if (anyOf !== undefined && anyOf.length > 0) checkAnyOf(value, anyOf, path, out);
  if (oneOf !== undefined && oneOf.length > 0) checkOneOf(value, oneOf, path, out);
  if (allOf !== undefined && allOf.length > 0) checkAllOf(value, allOf, path, out);
  if (not !== undefined && against(value, not, path).errors.length === 0) {
    out.errors.push(pathless(`${quoted(path)} must not validate the schema (not)`));
  }
}

function against(value: Json, schema: Schema, path: string): Findings {
  const findings = new Findings();
  check(value, schema, path, undefined, findings);
  return findings;
}

/** The alternative with the most checks; the first in a tie. */
function closest(tried: readonly Findings[]): Findings | undefined {
  return tried.reduce<Findings | undefined>(
    (best, candidate) => (best === undefined || candidate.checks > best.checks ? candidate : best),
    undefined,
  );
}

function checkAnyOf(value: Json, alternatives: readonly Schema[], path: string, out: Findings): void {
  const tried: Findings[] = [];
  for (const alternative of alternatives) {
    const findings = against(value, alternative, path);
    if (findings.errors.length === 0) {
      out.add(findings);
      return;
    }
    tried.push(findings);
  }
  out.errors.push(pathless(`${quoted(path)} must validate at least one schema (anyOf)`));
  out.add(closest(tried) as Findings);
}

function checkOneOf(value: Json, alternatives: readonly Schema[], path: string, out: Findings): void {
  const tried = alternatives.map((alternative) => against(value, alternative, path));
  const valid = tried.filter((findings) => findings.errors.length === 0);
  if (valid.length === 1) {
    out.add(valid[0] as Findings);
    return;
  }
  const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
  out.errors.push(pathless(`${quoted(path)} must validate one and only one schema (oneOf). ${found}`));
  if (valid.length === 0) out.add(closest(tried) as Findings);
}

function checkAllOf(value: Json, parts: readonly Schema[], path: string, out: Findings): void {
  let valid = 0;
  for (const part of parts) {
    const findings = against(value, part, path);
    if (findings.errors.length === 0) valid++;
    out.add(findings);
  }
  if (valid === parts.length) return;
  const none = valid === 0 ? '. None validated' : '';
  out.errors.push(pathless(`${quoted(path)} must validate all the schemas (allOf)${none}`));
}
