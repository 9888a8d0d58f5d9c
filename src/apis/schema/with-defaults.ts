import type { Json, JsonSchema } from './json-schema.ts';
import type { Schema, Static } from './schema.ts';

/** What a person may write where `T` is what the API server makes of it: fields with a default may be missing. */
export type Written<T> = T extends readonly (infer Item)[]
  ? readonly Written<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: Written<T[K]> }
    : T;

/** The value with the defaults of its schema at every depth, as the API server fills them in: for objects that never met one. */
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
