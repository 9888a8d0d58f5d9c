/** Fills in the defaults of a structural schema, at every depth, as the API server does on the way in and out. */
import { isList, isObject, propertySchema } from './json-object.ts';
import type { Json, JsonObject, Schema } from './schema.ts';

/**
 * The value with its defaults; the value itself where nothing changes. A null that its schema does not allow counts as not
 * set: the default takes its place, and where there is none the field goes.
 */
export function applyDefaults(value: Json, schema: Schema | undefined): Json {
  if (schema === undefined) return value;
  if (isList(value)) return defaultList(value, schema.items);
  return isObject(value) ? defaultObject(value, schema) : value;
}

function isUnset(value: Json | undefined, schema: Schema | undefined): boolean {
  return value === undefined || (value === null && schema !== undefined && schema.nullable !== true);
}

function defaultList(list: readonly Json[], items: Schema | undefined): Json {
  if (items === undefined) return list;
  let copy: Json[] | undefined;
  for (const [index, item] of list.entries()) {
    const filled = isUnset(item, items) && items.default !== undefined ? items.default : item;
    const defaulted = applyDefaults(filled, items);
    if (defaulted === item) continue;
    copy ??= [...list];
    copy[index] = defaulted;
  }
  return copy ?? list;
}

function defaultObject(object: JsonObject, schema: Schema): JsonObject {
  let entries: Map<string, Json> | undefined;
  for (const key of Object.keys(object)) {
    const value = object[key] as Json;
    const property = propertySchema(schema, key);
    const unset = isUnset(value, property);
    if (unset && property?.default === undefined) {
      entries ??= new Map(Object.entries(object));
      entries.delete(key);
      continue;
    }
    const defaulted = applyDefaults(unset ? (property?.default as Json) : value, property);
    if (defaulted === value) continue;
    entries ??= new Map(Object.entries(object));
    entries.set(key, defaulted);
  }
  const properties = schema.properties ?? {};
  for (const key of Object.keys(properties)) {
    const property = properties[key];
    if (property?.default === undefined || Object.hasOwn(object, key)) continue;
    entries ??= new Map(Object.entries(object));
    entries.set(key, applyDefaults(property.default, property));
  }
  return entries === undefined ? object : Object.fromEntries(entries);
}
