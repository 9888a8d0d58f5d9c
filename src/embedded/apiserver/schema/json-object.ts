import type { Json, JsonObject, Schema } from './schema.ts';

/** Tells objects from lists, null and scalars. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Tells lists from the rest; `Array.isArray` does not narrow read-only lists. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** An own field of an object: names such as `constructor` and `__proto__` are names like any other. */
export function fieldOf(object: JsonObject | undefined, name: string): Json | undefined {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The schema of a field of an object: its property, or that of additional properties. */
export function propertySchema(schema: Schema, name: string): Schema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** The fields every resource has beside its own; the server knows them without being told. */
export const TYPE_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** The object with one field set; safe for every name. */
export function withFields(object: JsonObject, fields: readonly (readonly [string, Json])[]): JsonObject {
  return Object.fromEntries([...Object.entries(object), ...fields]);
}
