/** Walks objects along their schema: lists fields, compares two objects, merges an applied object. */
import { sameJson } from '../../frozen.ts';
import { isFields, setField } from '../patch/merge-patch.ts';
import type { Schema } from '../schema/schema.ts';
import { EMPTY, type FieldSet, isEmpty, LEAF, setOf } from './field-set.ts';

/** How a list merges: as one value, as a set of values, or as a map by the keys of its items. */
function listKeys(schema: Schema | undefined): 'atomic' | 'set' | readonly string[] {
  const type = schema?.['x-kubernetes-list-type'];
  if (type === 'set') return 'set';
  return type === 'map' ? (schema?.['x-kubernetes-list-map-keys'] ?? []) : 'atomic';
}

/** Whether a map is atomic: its fields cannot have different owners. */
function isAtomicMap(schema: Schema | undefined): boolean {
  if (schema === undefined) return false;
  return schema['x-kubernetes-map-type'] === 'atomic';
}

function fieldSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const own = schema?.properties;
  if (own !== undefined && Object.hasOwn(own, name)) return own[name];
  const any = schema?.additionalProperties;
  return typeof any === 'object' ? any : undefined;
}

/** An omitted key has its default: the protocol of a port is TCP. */
function keyValue(item: Readonly<Record<string, unknown>>, name: string, schema: Schema | undefined): unknown {
  return item[name] ?? schema?.properties?.[name]?.default ?? (name === 'protocol' ? 'TCP' : null);
}

function itemElement(item: unknown, keys: 'set' | readonly string[], schema: Schema | undefined): string {
  if (keys === 'set' || !isFields(item)) return `v:${JSON.stringify(item)}`;
  const sorted = [...keys].sort();
  return `k:${JSON.stringify(Object.fromEntries(sorted.map((name) => [name, keyValue(item, name, schema)])))}`;
}

function itemsByElement(
  list: readonly unknown[],
  keys: 'set' | readonly string[],
  schema: Schema | undefined,
): Map<string, unknown> {
  return new Map(list.map((item) => [itemElement(item, keys, schema), item]));
}

/** All fields of a value. */
export function fieldsOf(value: unknown, schema: Schema | undefined): FieldSet {
  if (Array.isArray(value)) {
    const keys = listKeys(schema);
    if (keys === 'atomic' || value.length === 0) return LEAF;
    const children = new Map<string, FieldSet>();
    for (const item of value) {
      const inner = keys === 'set' ? LEAF : fieldsOf(item, schema?.items);
      children.set(itemElement(item, keys, schema?.items), { member: true, children: inner.children });
    }
    return setOf(false, children);
  }
  if (!isFields(value) || isAtomicMap(schema)) return LEAF;
  const children = new Map<string, FieldSet>();
  for (const name in value) {
    if (value[name] !== undefined) children.set(`f:${name}`, fieldsOf(value[name], fieldSchema(schema, name)));
  }
  return children.size === 0 ? LEAF : setOf(false, children);
}

/** How one object differs from another. */
export interface Difference {
  /** Fields that are new or have another value. */
  readonly changed: FieldSet;
  /** Fields that were removed, with everything below them. */
  readonly removed: FieldSet;
}

const SAME: Difference = { changed: EMPTY, removed: EMPTY };

/** How the second value differs from the first. */
export function difference(a: unknown, b: unknown, schema: Schema | undefined): Difference {
  if (a === b) return SAME;
  if (a === undefined) return { changed: fieldsOf(b, schema), removed: EMPTY };
  if (b === undefined) return { changed: EMPTY, removed: LEAF };
  if (Array.isArray(a) && Array.isArray(b)) {
    const keys = listKeys(schema);
    if (keys !== 'atomic' && (a.length > 0 || b.length > 0)) {
      const [before, after] = [itemsByElement(a, keys, schema?.items), itemsByElement(b, keys, schema?.items)];
      return differenceOf(
        before,
        after,
        (item) => item,
        () => schema?.items,
        true,
      );
    }
  } else if (isFields(a) && isFields(b) && !isAtomicMap(schema)) {
    const [before, after] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
    return differenceOf(
      before,
      after,
      (name) => `f:${name}`,
      (name) => fieldSchema(schema, name),
      false,
    );
  }
  return sameJson(a, b) ? SAME : { changed: LEAF, removed: EMPTY };
}

function differenceOf(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
  element: (key: string) => string,
  schemaOf: (key: string) => Schema | undefined,
  items: boolean,
): Difference {
  const changed = new Map<string, FieldSet>();
  const removed = new Map<string, FieldSet>();
  for (const [key, value] of after) {
    if (value === undefined) continue;
    const old = before.get(key);
    const inner = difference(old, value, schemaOf(key));
    const set = items && old === undefined ? { member: true, children: inner.changed.children } : inner.changed;
    if (!isEmpty(set)) changed.set(element(key), set);
    if (!isEmpty(inner.removed)) removed.set(element(key), inner.removed);
  }
  for (const [key, value] of before) {
    if (value !== undefined && after.get(key) === undefined) removed.set(element(key), LEAF);
  }
  return { changed: setOf(false, changed), removed: setOf(false, removed) };
}

/** Merges the applied value into the live value. */
export function mergeApplied(live: unknown, applied: unknown, schema: Schema | undefined): unknown {
  if (live === undefined || live === null) return applied;
  if (Array.isArray(live) && Array.isArray(applied)) {
    const keys = listKeys(schema);
    if (keys === 'atomic') return applied;
    return mergeLists(live, applied, keys, schema?.items);
  }
  if (!isFields(live) || !isFields(applied) || isAtomicMap(schema)) return applied;
  const result: Record<string, unknown> = { ...live };
  for (const name of Object.keys(applied)) {
    setField(result, name, mergeApplied(live[name], applied[name], fieldSchema(schema, name)));
  }
  return result;
}

/** Keeps the applied order. Items that only the live list has stay before the applied item that they preceded. */
function mergeLists(
  live: readonly unknown[],
  applied: readonly unknown[],
  keys: 'set' | readonly string[],
  schema: Schema | undefined,
): unknown[] {
  const wanted = itemsByElement(applied, keys, schema);
  const present = itemsByElement(live, keys, schema);
  const others = [...present.keys()].filter((element) => !wanted.has(element));
  const place = new Map([...present.keys()].map((element, index) => [element, index]));
  const result: unknown[] = [];
  for (const [element, item] of wanted) {
    const at = place.get(element);
    while (at !== undefined && others.length > 0 && (place.get(others[0] as string) as number) < at) {
      result.push(present.get(others.shift() as string));
    }
    result.push(keys === 'set' ? item : mergeApplied(present.get(element), item, schema));
  }
  return [...result, ...others.map((element) => present.get(element))];
}

/**
 * Removes the fields in `gone` from a value, except fields in `kept`. Parents that become empty are removed too.
 * Undefined when nothing is left.
 */
export function withoutFields(value: unknown, gone: FieldSet, kept: FieldSet, schema: Schema | undefined): unknown {
  if (isEmpty(gone) || value === undefined) return value;
  if (gone.member && isEmpty(kept)) return undefined;
  if (gone.children.size === 0) return value;
  if (Array.isArray(value)) {
    const keys = listKeys(schema);
    if (keys === 'atomic') return value;
    const left: unknown[] = [];
    for (const item of value) {
      const element = itemElement(item, keys, schema?.items);
      const rest = withoutFields(
        item,
        gone.children.get(element) ?? EMPTY,
        kept.children.get(element) ?? EMPTY,
        schema?.items,
      );
      if (rest !== undefined) left.push(rest);
    }
    return left.length === 0 ? undefined : left;
  }
  if (!isFields(value)) return value;
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const element = `f:${name}`;
    const inner = gone.children.get(element) ?? EMPTY;
    const rest = withoutFields(value[name], inner, kept.children.get(element) ?? EMPTY, fieldSchema(schema, name));
    if (rest !== undefined) setField(result, name, rest);
  }
  return Object.keys(result).length === 0 ? undefined : result;
}
