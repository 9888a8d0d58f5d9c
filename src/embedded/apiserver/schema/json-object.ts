import type { Json, JsonObject, Schema } from './schema.ts';

/** Whether a value is an object, not a list, null or scalar. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is a list; `Array.isArray` does not narrow read-only lists. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** An own field of an object; safe for names such as `constructor` and `__proto__`. */
export function fieldOf(object: JsonObject | undefined, name: string): Json | undefined {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The schema of an object's field: its property, or the additional properties. */
export function propertySchema(schema: Schema, name: string): Schema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Fields that every resource has; schemas need not list them. */
export const TYPE_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Maps the fields of an object and drops those that become undefined. Returns the object itself if nothing changes,
 * otherwise a copy that shares the rest. Safe for every field name.
 */
export function mapFields(object: JsonObject, change: (value: Json, key: string) => Json | undefined): JsonObject {
  let changed: Map<string, Json | undefined> | undefined;
  for (const key of Object.keys(object)) {
    const value = object[key] as Json;
    const result = change(value, key);
    if (result === value) continue;
    changed ??= new Map();
    changed.set(key, result);
  }
  if (changed === undefined) return object;
  const entries: [string, Json][] = [];
  for (const key of Object.keys(object)) {
    const kept = changed.has(key) ? changed.get(key) : object[key];
    if (kept !== undefined) entries.push([key, kept]);
  }
  return Object.fromEntries(entries);
}

/** Maps the items of a list; returns the list itself if nothing changes. */
export function mapItems(list: readonly Json[], change: (item: Json, index: number) => Json): readonly Json[] {
  let copy: Json[] | undefined;
  for (const [index, item] of list.entries()) {
    const result = change(item, index);
    if (result === item) continue;
    copy ??= [...list];
    copy[index] = result;
  }
  return copy ?? list;
}
