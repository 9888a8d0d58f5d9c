/**
 * Checks that a schema is structural: every value has a type, and alternatives (anyOf, oneOf, allOf, not) only restrict
 * values, without introducing fields.
 */
import { type FieldError, forbidden, invalid, required } from './field-error.ts';
import { goRegExp } from './go-regexp.ts';
import type { Schema } from './schema.ts';

type Level = 'root' | 'items' | 'field';

/** Why a schema is not structural, sorted by field and message. */
export function validateStructural(schema: Schema, path: string): FieldError[] {
  const errors = [...invariants(schema, 'root', path), ...completeness(schema, schema, path, path)];
  const text = (error: FieldError): string => `${error.field}: ${error.message}`;
  return errors.sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

function invariants(schema: Schema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { type, items, properties = {}, additionalProperties } = schema;
  if (type === 'array' && items === undefined) errors.push(required(`${path}.items`, 'must be specified'));
  if (items !== undefined) errors.push(...invariants(items, 'items', `${path}.items`));
  for (const [name, property] of Object.entries(properties)) {
    errors.push(...invariants(property, 'field', `${path}.properties[${name}]`));
  }
  if (additionalProperties !== undefined) {
    if (level === 'root') errors.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'));
    if (typeof additionalProperties === 'object') {
      errors.push(...invariants(additionalProperties, 'field', `${path}.additionalProperties`));
    }
  }
  errors.push(...alternatives(schema, path, intOrStringAlternatives(schema)));
  errors.push(...typeProblems(schema, level, path));
  errors.push(...metaProblems(schema, level, path));
  return errors;
}

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  items: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function typeProblems(schema: Schema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { type = '' } = schema;
  const preserve = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const intOrString = schema['x-kubernetes-int-or-string'] === true;
  if (embedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail));
  } else if (type === '' && !intOrString && !preserve) {
    errors.push(required(`${path}.type`, EMPTY_TYPE[level]));
  }
  if (embedded && schema.additionalProperties !== undefined) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(forbidden(`${path}.additionalProperties`, detail));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalid(`${path}.type`, type, 'must be object at the root'));
  }
  if (intOrString && preserve) {
    const detail = 'must be false if x-kubernetes-int-or-string is true';
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, true, detail));
  }
  if (embedded && !preserve && Object.keys(schema.properties ?? {}).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${path}.properties`, detail));
  }
  return errors;
}

/** apiVersion, kind and metadata are fixed; a schema may only restrict the name. */
function metaProblems(schema: Schema, level: Level, path: string): FieldError[] {
  if (level !== 'root' && schema['x-kubernetes-embedded-resource'] !== true) return [];
  const errors: FieldError[] = [];
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  for (const [name, property] of Object.entries({ kind, apiVersion })) {
    if (property === undefined || property.type === 'string') continue;
    errors.push(invalid(`${path}.properties[${name}].type`, property.type ?? '', 'must be string'));
  }
  if (metadata === undefined) return errors;
  const at = `${path}.properties[metadata]`;
  if (metadata.type !== 'object') errors.push(invalid(`${at}.type`, metadata.type ?? '', 'must be object'));
  if (level === 'root' && saysTooMuch(metadata)) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(at, detail));
  }
  return errors;
}

function saysTooMuch(metadata: Schema): boolean {
  const { type: _, default: __, properties = {}, ...rest } = metadata;
  const others = Object.keys(properties).filter((name) => name !== 'name' && name !== 'generateName');
  return others.length > 0 || Object.keys(rest).length > 0;
}

/** The only alternative that may name types: `anyOf` integer or string, beside x-kubernetes-int-or-string. */
function intOrStringAlternatives(schema: Schema): { readonly own: boolean; readonly firstAllOf: boolean } {
  return { own: isIntOrString(schema.anyOf), firstAllOf: isIntOrString(schema.allOf?.[0]?.anyOf) };
}

function isIntOrString(alternatives: readonly Schema[] | undefined): boolean {
  return JSON.stringify(alternatives) === '[{"type":"integer"},{"type":"string"}]';
}

function alternatives(
  schema: Schema,
  path: string,
  skip: { readonly own: boolean; readonly firstAllOf: boolean },
): FieldError[] {
  const errors: FieldError[] = [];
  if (!skip.own)
    for (const [i, part] of (schema.anyOf ?? []).entries()) errors.push(...nested(part, `${path}.anyOf[${i}]`));
  for (const [i, part] of (schema.allOf ?? []).entries()) {
    errors.push(...nested(part, `${path}.allOf[${i}]`, skip.firstAllOf && i === 0));
  }
  for (const [i, part] of (schema.oneOf ?? []).entries()) errors.push(...nested(part, `${path}.oneOf[${i}]`));
  if (schema.not !== undefined) errors.push(...nested(schema.not, `${path}.not`));
  if (schema.pattern !== undefined && goRegExp(schema.pattern) === undefined) {
    const detail = `must be a valid regular expression, but isn't: error parsing regexp: ${patternProblem(schema.pattern)}`;
    errors.push(invalid(`${path}.pattern`, schema.pattern, detail));
  }
  return errors;
}

/** Describes the error in a pattern, if it can be determined. */
function patternProblem(pattern: string): string {
  const opened = pattern.replace(/\\\\./g, '');
  if (/\[[^\]]*$/.test(opened)) return `missing closing ]: \`${pattern.slice(pattern.lastIndexOf('['))}\``;
  if (opened.split('(').length > opened.split(')').length) return `missing closing ): \`${pattern}\``;
  return `\`${pattern}\``;
}

/** Keywords that an alternative may not use, with the message for each. */
const ONLY_OUTSIDE: readonly (readonly [keyof Schema, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function nested(schema: Schema, path: string, skipAnyOf = false): FieldError[] {
  const errors = alternatives(schema, path, { own: skipAnyOf, firstAllOf: false });
  if (schema.items !== undefined) errors.push(...nested(schema.items, `${path}.items`));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...nested(property, `${path}.properties[${name}]`));
  }
  for (const [key, detail] of ONLY_OUTSIDE) {
    const value = schema[key];
    if (value !== undefined && value !== false && value !== '') errors.push(forbidden(`${path}.${key}`, detail));
  }
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, 'metadata')) {
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  }
  return errors;
}

/** Every field in an alternative must also be defined outside of it. */
function completeness(part: Schema, schema: Schema | undefined, at: string, from: string): FieldError[] {
  if (schema === undefined) return [required(at, `because it is defined in ${from}`)];
  const parts: (readonly [Schema, string])[] = [
    ...(part.not === undefined ? [] : [[part.not, `${from}.not`] as const]),
    ...(part.allOf ?? []).map((inner, i) => [inner, `${from}.allOf[${i}]`] as const),
    ...(part.anyOf ?? []).map((inner, i) => [inner, `${from}.anyOf[${i}]`] as const),
    ...(part.oneOf ?? []).map((inner, i) => [inner, `${from}.oneOf[${i}]`] as const),
  ];
  return parts.flatMap(([inner, innerFrom]) => [
    ...completeness(inner, schema, at, innerFrom),
    ...(inner.items === undefined ? [] : within(inner.items, schema.items, `${at}.items`, `${innerFrom}.items`)),
    ...Object.entries(inner.properties ?? {}).flatMap(([name, property]) => {
      const known = schema.properties;
      const target = known !== undefined && Object.hasOwn(known, name) ? known[name] : undefined;
      return within(property, target, `${at}.properties[${name}]`, `${innerFrom}.properties[${name}]`);
    }),
  ]);
}

function within(part: Schema, schema: Schema | undefined, at: string, from: string): FieldError[] {
  return completeness({ allOf: [part] }, schema, at, from).map((error) => ({
    ...error,
    message: error.message.replace(`${from}.allOf[0]`, from),
  }));
}
