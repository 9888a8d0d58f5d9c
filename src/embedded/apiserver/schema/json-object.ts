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

/**
 * The object with its fields changed, those that become undefined left out; the object itself where nothing changes, and
 * otherwise a copy that shares the rest. Safe for every name.
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

/** The list with its items changed; the list itself where nothing changes. */
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
