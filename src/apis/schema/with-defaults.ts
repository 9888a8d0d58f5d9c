import type { Json, JsonSchema } from './json-schema.ts';
import type { Schema, Static } from './schema.ts';

/** `T` as people write it: fields with a default are optional. */
export type Written<T> = T extends readonly (infer Item)[]
  ? readonly Written<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: Written<T[K]> }
    : T;

/** Applies the defaults of a schema at every depth, as the API server does, to objects that never passed one. */
export function withDefaults<S extends Schema<unknown>>(schema: S, value: Written<Static<S>>): Static<S> {
  return fill(value as Json, schema.json) as Static<S>;
}

function fill(value: Json, schema: JsonSchema): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value))
    return schema.items === undefined ? value : value.map((item) => fill(item, schema.items as JsonSchema));
  const filled: Record<string, Json> = {};
  for (const [name, given] of Object.entries(value)) {
    const known = schema.properties?.[name] ?? schema.additionalProperties;
    filled[name] = known === undefined ? given : fill(given, known);
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default !== undefined && filled[name] === undefined) filled[name] = fill(property.default, property);
  }
  return filled;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
