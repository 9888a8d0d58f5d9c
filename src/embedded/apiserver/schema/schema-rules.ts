/** Rules for the schema of a definition, beyond being structural. CEL rules must compile. */
import { applyDefaults } from './apply-defaults.ts';
import { compileRules, type RuleNode } from './cel/compile-rules.ts';
import { evaluateRules } from './cel/evaluate-rules.ts';
import { fieldPathText } from './cel/field-path.ts';
import { sameJson } from './equality.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from './field-error.ts';
import { sortedJson } from './go-text.ts';
import { pruneValue } from './prune.ts';
import type { Json, JsonObject, Schema, ValidationRule } from './schema.ts';
import { validateStructural } from './structural-rules.ts';
import { validateSchema } from './validate-schema.ts';

/** All errors in the schema of a custom resource; `path` is its place in the definition. */
export function validateDefinitionSchema(schema: Schema, path: string): FieldError[] {
  const errors = hasUnsupported(schema) ? [] : validateStructural(schema, path);
  if (schema.nullable === true) errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  if (errors.length === 0) errors.push(...defaultProblems(schema, path, true));
  const isStructural = errors.length === 0;
  const problems = new Problems(isStructural ? compileRules(schema, true) : undefined);
  problems.visit(schema, { path, node: problems.rules, isRoot: true });
  return [...errors, ...problems.schema, ...problems.rulesBroken];
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** A schema with these keywords cannot be checked as a structural one. */
function hasUnsupported(schema: Schema): boolean {
  const { items, not, additionalProperties } = schema;
  if (UNSUPPORTED.some((name) => name in schema) || Array.isArray(items)) return true;
  const below = [items, not, typeof additionalProperties === 'object' ? additionalProperties : undefined]
    .concat(Object.values(schema.properties ?? {}), schema.allOf ?? [], schema.anyOf ?? [], schema.oneOf ?? [])
    .filter((part) => part !== undefined);
  return below.some(hasUnsupported);
}

interface Place {
  readonly path: string;
  readonly node: RuleNode | undefined;
  readonly isRoot?: boolean;
  readonly noDefaults?: string;
  /** The enclosing list or map whose items cannot be matched with their old values. */
  readonly uncorrelatable?: string;
}

class Problems {
  readonly rules: RuleNode | undefined;
  readonly schema: FieldError[] = [];
  readonly rulesBroken: FieldError[] = [];

  constructor(rules: RuleNode | undefined) {
    this.rules = rules;
  }

  visit(schema: Schema, place: Place): void {
    const { path, node, noDefaults } = place;
    this.#standard(schema, place);
    const inherited = {
      ...(noDefaults === undefined ? {} : { noDefaults }),
      ...(place.uncorrelatable === undefined ? {} : { uncorrelatable: place.uncorrelatable }),
    };
    const { properties, additionalProperties, items, not } = schema;
    if (typeof additionalProperties === 'object') {
      this.visit(additionalProperties, {
        ...inherited,
        path: `${path}.additionalProperties`,
        node: node?.additionalProperties,
      });
    }
    for (const [name, property] of Object.entries(properties ?? {})) {
      const meta = place.isRoot === true && ['apiVersion', 'kind', 'metadata'].includes(name);
      this.visit(property, {
        ...inherited,
        path: `${path}.properties[${name}]`,
        node: node?.properties.get(name),
        ...(meta ? { noDefaults: `in top-level ${name}` } : {}),
      });
    }
    for (const [name, parts] of Object.entries({ allOf: schema.allOf, oneOf: schema.oneOf, anyOf: schema.anyOf })) {
      for (const [i, part] of (parts ?? []).entries()) {
        this.visit(part, { ...inherited, path: `${path}.${name}[${i}]`, node: undefined });
      }
    }
    if (not !== undefined) this.visit(not, { ...inherited, path: `${path}.not`, node: undefined });
    if (items !== undefined) {
      const isMap = schema['x-kubernetes-list-type'] === 'map';
      const uncorrelatable = place.uncorrelatable ?? (isMap ? undefined : path);
      this.visit(items, {
        ...inherited,
        path: `${path}.items`,
        node: node?.items,
        ...(uncorrelatable === undefined ? {} : { uncorrelatable }),
      });
    }
    this.#listsAndMaps(schema, path);
    this.#validations(schema, place);
  }

  #standard(schema: Schema, { path, noDefaults }: Place): void {
    const fields = schema as Readonly<Record<string, unknown>>;
    if (schema.type !== undefined && !TYPES.includes(schema.type)) {
      this.schema.push(notSupported(`${path}.type`, schema.type, TYPES));
    }
    if (schema.default !== undefined && noDefaults !== undefined) {
      this.schema.push(forbidden(`${path}.default`, `must not be set ${noDefaults}`));
    }
    for (const name of UNSUPPORTED) {
      if (fields[name] !== undefined) this.schema.push(forbidden(`${path}.${name}`, `${name} is not supported`));
    }
    if (Array.isArray(schema.items)) {
      this.schema.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
    }
    if (schema.uniqueItems === true) {
      const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
      this.schema.push(forbidden(`${path}.uniqueItems`, detail));
    }
    const hasProperties = Object.keys(schema.properties ?? {}).length > 0;
    if (hasProperties && schema.additionalProperties !== undefined && schema.additionalProperties !== true) {
      const detail = 'additionalProperties and properties are mutual exclusive';
      this.schema.push(forbidden(`${path}.additionalProperties`, detail));
    }
    if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
      const at = `${path}.x-kubernetes-preserve-unknown-fields`;
      this.schema.push(invalid(at, false, 'must be true or undefined'));
    }
  }

  #listsAndMaps(schema: Schema, path: string): void {
    const listType = schema['x-kubernetes-list-type'];
    const mapType = schema['x-kubernetes-map-type'];
    if (mapType !== undefined) this.#needsType(schema, 'object', 'x-kubernetes-map-type', path);
    if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular') {
      this.schema.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
    }
    if (listType !== undefined) this.#needsType(schema, 'array', 'x-kubernetes-list-type', path);
    if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType)) {
      this.schema.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']));
    }
    const keys = schema['x-kubernetes-list-map-keys'] ?? [];
    if (keys.length > 0 && listType !== 'map') {
      const at = `${path}.x-kubernetes-list-type`;
      const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
      this.schema.push(listType === undefined ? required(at, detail) : invalid(at, listType, detail));
    }
    if (listType === 'map') this.#listMap(schema, keys, path);
    if (listType === 'set' && schema.items !== undefined) this.#listSet(schema.items, path);
  }

  #needsType(schema: Schema, type: string, extension: string, path: string): void {
    if (schema.type === type) return;
    const detail = `must be ${type} if ${extension} is specified`;
    const at = `${path}.type`;
    this.schema.push(schema.type === undefined ? required(at, detail) : invalid(at, schema.type, detail));
  }

  #listSet(items: Schema, path: string): void {
    if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
      const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
      this.schema.push(invalid(`${path}.items.x-kubernetes-map-type`, items['x-kubernetes-map-type'], detail));
    }
    this.#notNullable(items, `${path}.items.nullable`, 'cannot be nullable when x-kubernetes-list-type is set');
  }

  #listMap(schema: Schema, keys: readonly string[], path: string): void {
    const items: Schema = schema.items ?? {};
    const at = `${path}.x-kubernetes-list-map-keys`;
    if (keys.length === 0) this.schema.push(required(at, 'must not be empty if x-kubernetes-list-type is map'));
    if (schema.items !== undefined && items.type !== 'object') {
      const detail = "must be object if parent array's x-kubernetes-list-type is map";
      this.schema.push(invalid(`${path}.items.type`, items.type ?? '', detail));
    }
    this.#notNullable(items, `${path}.items.nullable`, 'cannot be nullable when x-kubernetes-list-type is map');
    for (const [index, key] of keys.entries()) {
      const property = items.properties?.[key];
      if (keys.indexOf(key) !== index) this.schema.push(invalid(at, keys, 'must not contain duplicate entries'));
      if (property === undefined) {
        this.schema.push(invalid(at, keys, 'entries must all be names of item properties'));
        continue;
      }
      const below = `${path}.items.properties[${key}]`;
      if (property.type === 'array' || property.type === 'object') {
        const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        this.schema.push(invalid(`${below}.type`, property.type, detail));
      }
      const why = 'this property is in x-kubernetes-list-map-keys, so it';
      if (items.required?.includes(key) !== true && property.default === undefined) {
        this.schema.push(required(`${below}.default`, `${why} must have a default or be a required property`));
      }
      this.#notNullable(property, `${below}.nullable`, `${why} cannot be nullable`);
    }
  }

  #notNullable(schema: Schema, field: string, detail: string): void {
    if (schema.nullable === true) this.schema.push(forbidden(field, detail));
  }

  #validations(schema: Schema, place: Place): void {
    const rules = schema['x-kubernetes-validations'] ?? [];
    const before = this.schema.length;
    for (const [index, rule] of rules.entries()) {
      this.#written(rule, `${place.path}.x-kubernetes-validations[${index}]`, schema);
    }
    if (this.schema.length > before || place.node === undefined) return;
    for (const [index, compiled] of place.node.rules.entries()) {
      const at = `${place.path}.x-kubernetes-validations[${index}]`;
      const shown = rawRule(compiled.rule);
      if (compiled.error !== undefined) this.rulesBroken.push(invalidRule(`${at}.rule`, shown, compiled.error));
      if (compiled.messageError !== undefined) {
        this.rulesBroken.push(invalidRule(`${at}.messageExpression`, shown, compiled.messageError));
      }
      if (compiled.usesOldSelf && place.uncorrelatable !== undefined) {
        const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`;
        this.rulesBroken.push(invalid(`${at}.rule`, compiled.rule.rule, detail));
      } else if (!compiled.usesOldSelf && compiled.rule.optionalOldSelf !== undefined) {
        const detail = 'may not be set if oldSelf is not used in rule';
        this.rulesBroken.push(invalid(`${at}.optionalOldSelf`, compiled.rule.optionalOldSelf, detail));
      }
    }
  }

  #written(rule: ValidationRule, path: string, schema: Schema): void {
    const { message = '', messageExpression = '', fieldPath = '', reason } = rule;
    if (rule.rule.trim() === '') this.schema.push(required(`${path}.rule`, 'rule is not specified'));
    else if (message !== '' && message.trim() === '') {
      this.schema.push(invalid(`${path}.message`, message, 'must be non-empty if specified'));
    } else if (/[\n\r]/.test(message.trim())) {
      this.schema.push(invalid(`${path}.message`, message, 'must not contain line breaks'));
    } else if (/[\n\r]/.test(rule.rule.trim()) && message.trim() === '') {
      this.schema.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
    }
    if (messageExpression !== '' && messageExpression.trim() === '') {
      this.schema.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
    }
    if (reason !== undefined && !REASONS.includes(reason)) {
      this.schema.push(notSupported(`${path}.reason`, reason, REASONS));
    }
    if (fieldPath !== '' && 'problem' in fieldPathText(fieldPath, schema)) {
      this.schema.push(invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'));
    }
  }
}

/** A rule as the server prints its own structure. */
function rawRule(rule: ValidationRule): string {
  const fields: [string, Json][] = [
    ['Rule', rule.rule],
    ['Message', rule.message ?? ''],
    ['MessageExpression', rule.messageExpression ?? ''],
    ['Reason', rule.reason ?? null],
    ['FieldPath', rule.fieldPath ?? ''],
    ['OptionalOldSelf', rule.optionalOldSelf ?? null],
  ];
  return `{${fields.map(([name, value]) => `"${name}":${sortedJson(value)}`).join(',')}}`;
}

function invalidRule(field: string, rule: string, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${rule}: ${detail}` };
}

/** Defaults must be valid for their own schema. */
function defaultProblems(schema: Schema, path: string, isRoot = false): FieldError[] {
  const { default: value, items, properties, additionalProperties } = schema;
  const errors: FieldError[] = [];
  if (value !== undefined && !isRoot) errors.push(...checkDefault(value, schema, `${path}.default`));
  if (items !== undefined) errors.push(...defaultProblems(items, `${path}.items`));
  if (typeof additionalProperties === 'object') {
    errors.push(...defaultProblems(additionalProperties, `${path}.additionalProperties`));
  }
  for (const [name, property] of Object.entries(properties ?? {})) {
    if (isRoot && name === 'metadata') continue;
    errors.push(...defaultProblems(property, `${path}.properties[${name}]`));
  }
  return errors;
}

function checkDefault(value: Json, schema: Schema, path: string): FieldError[] {
  const inside = { value } as JsonObject;
  const around: Schema = { type: 'object', properties: { value: schema } };
  if (!sameJson(pruneValue(inside, around).object, inside)) {
    return [invalid(path, value, 'must not have unknown fields')];
  }
  const complete = applyDefaults(value, schema);
  // The messages refer to the value alone; only the field has the full path.
  const errors = validateSchema(complete, schema).map((error) => ({
    ...error,
    field: error.field === '<nil>' ? error.field : error.field === '' ? path : `${path}.${error.field}`,
  }));
  const rules = errors.length > 0 ? undefined : compileRules(schema, false);
  if (rules === undefined) return errors;
  // Evaluated as an unchanged value, and as a new one.
  return [...evaluateRules(rules, complete, path, complete), ...evaluateRules(rules, complete, path)];
}
