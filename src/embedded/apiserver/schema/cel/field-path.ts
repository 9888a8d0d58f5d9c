/** `fieldPath` of a rule and other JSON paths to fields of a schema: `.spec.name`, `.labels['a.b']`. */
import type { Schema } from '../schema.ts';

export type FieldPath = { readonly path: string; readonly schema: Schema } | { readonly problem: string };

/** The path as error messages write it and the schema at its end, or why it is invalid. */
export function fieldPathText(
  jsonPath: string,
  schema: Schema,
  brackets: 'allowed' | 'forbidden' = 'allowed',
): FieldPath {
  let text = '';
  let current = schema;
  let rest = jsonPath;
  while (rest !== '') {
    const match = /^\.([^.[\]]+)/.exec(rest) ?? /^\['((?:[^'\\]|\\.)*)'\]/.exec(rest);
    if (rest.startsWith('[') && brackets === 'forbidden') return { problem: 'array notation is not allowed' };
    if (match === null) return { problem: malformed(rest) };
    const name = (match[1] as string).replace(/\\(.)/g, '$1');
    const step = stepInto(current, name);
    if (step === undefined) return { problem: 'does not refer to a valid field' };
    text += step.named ? (text === '' ? name : `.${name}`) : `[${name}]`;
    current = step.schema;
    rest = rest.slice(match[0].length);
  }
  return { path: text, schema: current };
}

function stepInto(schema: Schema, name: string): { readonly schema: Schema; readonly named: boolean } | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined) {
    return Object.hasOwn(properties, name) ? { schema: properties[name] as Schema, named: true } : undefined;
  }
  return typeof additionalProperties === 'object' ? { schema: additionalProperties, named: false } : undefined;
}

function malformed(rest: string): string {
  if (rest === '.' || rest === '[') return 'unexpected end of JSON path';
  const token = /^[^.[\]]+/.exec(rest.replace(/^[.[]/, ''))?.[0] ?? rest;
  return rest.startsWith('[') ? `expected single quoted string but got ${token}` : `expected [ or . but got: ${token}`;
}
