/** Fills in the defaults of a structural schema at every depth, as the API server does on writes and reads. */
import { isList, isObject, mapFields, mapItems, propertySchema } from './json-object.ts';
import type { Json, JsonObject, Schema } from './schema.ts';

/**
 * The value with its defaults; the value itself if nothing changes. A null that the schema does not allow counts as
 * unset: the default replaces it, or the field is removed if there is no default.
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
  return mapItems(list, (item) => {
    const filled = isUnset(item, items) && items.default !== undefined ? items.default : item;
    return applyDefaults(filled, items);
  });
}

function defaultObject(object: JsonObject, schema: Schema): JsonObject {
  const filled = mapFields(object, (value, key) => {
    const property = propertySchema(schema, key);
    const present = isUnset(value, property) ? property?.default : value;
    return present === undefined ? undefined : applyDefaults(present, property);
  });
  const missing = Object.entries(schema.properties ?? {}).filter(
    ([key, property]) => property.default !== undefined && !Object.hasOwn(object, key),
  );
  if (missing.length === 0) return filled;
  const added = missing.map(([key, property]) => [key, applyDefaults(property.default as Json, property)] as const);
  return Object.fromEntries([...Object.entries(filled), ...added]);
}

/** Per schema, the properties that have a default at any depth. */
const pathsOf = new WeakMap<Schema, readonly (readonly [string, Schema])[]>();

function paths(schema: Schema): readonly (readonly [string, Schema])[] {
  let known = pathsOf.get(schema);
  if (known === undefined) {
    known = Object.entries(schema.properties ?? {}).filter(([, property]) => hasDefault(property));
    pathsOf.set(schema, known);
  }
  return known;
}

/**
 * Like {@link applyDefaults}, for values that have been through it before. Visits only properties with defaults, so
 * that reads stay cheap.
 */
export function fillDefaults(value: Json, schema: Schema): Json {
  if (!isObject(value) || typeof schema.additionalProperties === 'object') return applyDefaults(value, schema);
  let filled: Record<string, Json> | undefined;
  for (const [key, property] of paths(schema)) {
    const present = value[key];
    const next = isUnset(present, property)
      ? applyDefaults(property.default as Json, property)
      : fillDefaults(present as Json, property);
    if (next === undefined || next === present) continue;
    filled ??= { ...value };
    filled[key] = next;
  }
  return filled ?? value;
}

/** Whether a schema, or any schema below it, has a default. */
export function hasDefault(schema: Schema | undefined): boolean {
  if (schema === undefined) return false;
  if (schema.default !== undefined) return true;
  const { additionalProperties: additional } = schema;
  return (
    Object.values(schema.properties ?? {}).some(hasDefault) ||
    hasDefault(schema.items) ||
    (typeof additional === 'object' && hasDefault(additional))
  );
}
