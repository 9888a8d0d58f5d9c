/** Checks that lists of type set or map have no duplicates. */
import { duplicate, type FieldError, invalid } from './field-error.ts';
import { sortedJson } from './go-text.ts';
import { fieldOf, isList, isObject, propertySchema } from './json-object.ts';
import type { Json, Schema } from './schema.ts';

/** The duplicate items of sets and list maps, anywhere in the value. */
export function validateListTypes(value: Json, schema: Schema | undefined, path = ''): FieldError[] {
  const errors: FieldError[] = [];
  walk(value, schema, path, errors);
  return errors;
}

function walk(value: Json, schema: Schema | undefined, path: string, errors: FieldError[]): void {
  if (schema === undefined) return;
  if (isList(value)) {
    const listType = schema['x-kubernetes-list-type'];
    if (listType === 'set') checkUnique(value, path, errors);
    else if (listType === 'map') checkMap(value, schema['x-kubernetes-list-map-keys'] ?? [], path, errors);
    for (const [index, item] of value.entries()) walk(item, schema.items, `${path}[${index}]`, errors);
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const named = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
      const step = named ? (path === '' ? key : `${path}.${key}`) : `${path}[${key}]`;
      walk(value[key] as Json, propertySchema(schema, key), step, errors);
    }
  }
}

function checkMap(list: readonly Json[], keys: readonly string[], path: string, errors: FieldError[]): void {
  for (const [index, item] of list.entries()) {
    if (item !== null && !isObject(item)) {
      errors.push(invalid(`${path}[${index}]`, item, 'must be an object for an array of list-type map'));
      return;
    }
  }
  const found = list.map((item): Json => {
    const present = keys.flatMap((key): [string, Json][] => {
      const value = isObject(item) ? fieldOf(item, key) : undefined;
      return value === undefined ? [] : [[key, value]];
    });
    return Object.fromEntries(present);
  });
  checkUnique(found, path, errors);
}

/** Reports each value once, at its second occurrence. */
function checkUnique(keys: readonly Json[], path: string, errors: FieldError[]): void {
  const seen = new Map<string, number>();
  for (const [index, key] of keys.entries()) {
    const text = sortedJson(key);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    if (times === 1) errors.push(duplicate(`${path}[${index}]`, key));
  }
}
