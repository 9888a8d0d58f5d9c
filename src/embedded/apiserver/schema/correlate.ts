/** Finds the part of the old object that matches a part of the new one, for transition rules and ratcheting. */

import { sortedJson } from './go-text.ts';
import { fieldOf, isList, isObject } from './json-object.ts';
import type { Json, Schema } from './schema.ts';

/** The old value of a field, by name. */
export function oldField(old: Json | undefined, name: string): Json | undefined {
  return isObject(old) ? fieldOf(old, name) : undefined;
}

/** Finds the old value of list items: by key if the list is a map, otherwise none. */
export function oldItems(old: Json | undefined, schema: Schema): (item: Json) => Json | undefined {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (!isList(old) || schema['x-kubernetes-list-type'] !== 'map' || keys === undefined) return () => undefined;
  let byKey: Map<string, Json> | undefined;
  return (item) => {
    const key = mapKey(item, keys, schema.items);
    if (key === undefined) return undefined;
    if (byKey === undefined) {
      byKey = new Map();
      for (const candidate of old) {
        const oldKey = mapKey(candidate, keys, schema.items);
        if (oldKey !== undefined) byKey.set(oldKey, candidate);
      }
    }
    return byKey.get(key);
  };
}

function mapKey(item: Json, keys: readonly string[], items: Schema | undefined): string | undefined {
  if (!isObject(item)) return undefined;
  return sortedJson(keys.map((key) => fieldOf(item, key) ?? items?.properties?.[key]?.default ?? null));
}
