/**
 * Strategic merge patch: a merge patch that merges keyed lists item by item. The schema says how a list merges
 * (`x-kubernetes-patch-merge-key`, `x-kubernetes-patch-strategy`); directives in the patch say the rest.
 */

import { sameJson } from '../../frozen.ts';
import type { Schema } from '../schema/schema.ts';
import { badRequest } from '../status-errors.ts';
import { isFields, setField } from './merge-patch.ts';

type Fields = Readonly<Record<string, unknown>>;

const ORDER = '$setElementOrder/';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const RETAIN = '$retainKeys';
const DIRECTIVE = '$patch';

/** Applies the patch. Unpatched parts are shared with the target. */
export function applyStrategicMergePatch(target: unknown, patch: unknown, schema: Schema | undefined): unknown {
  if (!isFields(patch)) return patch;
  const directive = patch[DIRECTIVE];
  if (directive === 'replace') return without(patch, DIRECTIVE);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') throw badRequest(`unknown $patch type: ${String(directive)}`);
  const original = isFields(target) ? target : {};
  const result: Record<string, unknown> = retained(original, patch[RETAIN]);
  for (const key of Object.keys(patch)) {
    if (key === DIRECTIVE || key === RETAIN || key.startsWith(ORDER)) continue;
    if (key.startsWith(DELETE_FROM)) {
      deletePrimitives(result, key.slice(DELETE_FROM.length), patch[key]);
      continue;
    }
    const value = patch[key];
    if (value === null) delete result[key];
    else if (value !== undefined) {
      const order = patch[`${ORDER}${key}`];
      setField(result, key, mergeField(result[key], value, fieldSchema(schema, key), order));
    }
  }
  reorderUntouched(result, patch, schema);
  return result;
}

function mergeField(target: unknown, patch: unknown, schema: Schema | undefined, order: unknown): unknown {
  if (!Array.isArray(patch)) {
    const strategy = schema?.['x-kubernetes-patch-strategy'];
    if (isFields(patch) && strategy === 'replace' && patch[DIRECTIVE] === undefined) return patch;
    return applyStrategicMergePatch(target, patch, schema);
  }
  if (!merges(schema)) return replacedList(patch);
  const original = Array.isArray(target) ? target : [];
  const key = schema?.['x-kubernetes-patch-merge-key'];
  const merged = key === undefined ? mergePrimitives(original, patch) : mergeByKey(original, patch, key, schema?.items);
  return Array.isArray(order) ? ordered(merged, order, key, original) : merged;
}

function merges(schema: Schema | undefined): boolean {
  return (schema?.['x-kubernetes-patch-strategy'] ?? '').split(',').includes('merge');
}

/** A list that is replaced as a whole may still start with `$patch: replace`. */
function replacedList(patch: readonly unknown[]): unknown[] {
  return patch.filter((item) => !(isFields(item) && item[DIRECTIVE] === 'replace' && Object.keys(item).length === 1));
}

function mergePrimitives(original: readonly unknown[], patch: readonly unknown[]): unknown[] {
  return [...original, ...patch.filter((item) => !original.some((known) => sameJson(known, item)))];
}

function mergeByKey(
  original: readonly unknown[],
  patch: readonly unknown[],
  key: string,
  schema: Schema | undefined,
): unknown[] {
  if (patch.some((item) => isFields(item) && item[DIRECTIVE] === 'replace' && item[key] === undefined)) {
    return replacedList(patch);
  }
  const result = [...original];
  for (const item of patch) {
    if (!isFields(item)) throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    const value = item[key];
    if (value === undefined) {
      throw badRequest(
        `map: map[${Object.keys(item)
          .map((name) => `${name}:${String(item[name])}`)
          .join(' ')}] does not contain declared merge key: ${key}`,
      );
    }
    const index = result.findIndex((known) => isFields(known) && sameJson(known[key], value));
    if (item[DIRECTIVE] === 'delete') {
      if (index >= 0) result.splice(index, 1);
    } else if (item[DIRECTIVE] === 'replace') {
      const replacement = without(item, DIRECTIVE);
      if (index >= 0) result[index] = replacement;
      else result.push(replacement);
    } else if (index >= 0) result[index] = applyStrategicMergePatch(result[index], item, schema);
    else result.push(applyStrategicMergePatch({}, item, schema));
  }
  return result;
}

/** Sorts items as `order` says. Items that only the server has keep their place relative to them. */
function ordered(
  items: readonly unknown[],
  order: readonly unknown[],
  key: string | undefined,
  original: readonly unknown[],
): unknown[] {
  const identity = (item: unknown): unknown => (key !== undefined && isFields(item) ? item[key] : item);
  const rank = (item: unknown): number => order.findIndex((wanted) => sameJson(identity(wanted), identity(item)));
  const place = (item: unknown): number => original.findIndex((known) => sameJson(identity(known), identity(item)));
  const named = items.filter((item) => rank(item) >= 0).sort((a, b) => rank(a) - rank(b));
  const others = items.filter((item) => rank(item) < 0);
  const result: unknown[] = [];
  for (const item of named) {
    const before = place(item);
    while (others.length > 0 && before >= 0 && place(others[0]) >= 0 && place(others[0]) < before)
      result.push(others.shift());
    result.push(item);
  }
  return [...result, ...others];
}

/** A patch may give the order of a list without patching its items. */
function reorderUntouched(result: Record<string, unknown>, patch: Fields, schema: Schema | undefined): void {
  for (const name of Object.keys(patch)) {
    if (!name.startsWith(ORDER)) continue;
    const field = name.slice(ORDER.length);
    const [items, order] = [result[field], patch[name]];
    if (patch[field] !== undefined || !Array.isArray(items) || !Array.isArray(order)) continue;
    result[field] = ordered(items, order, fieldSchema(schema, field)?.['x-kubernetes-patch-merge-key'], items);
  }
}

function deletePrimitives(result: Record<string, unknown>, field: string, gone: unknown): void {
  const items = result[field];
  if (!Array.isArray(items) || !Array.isArray(gone)) return;
  result[field] = items.filter((item) => !gone.some((value) => sameJson(value, item)));
}

function retained(original: Fields, keys: unknown): Record<string, unknown> {
  if (!Array.isArray(keys)) return { ...original };
  return Object.fromEntries(Object.entries(original).filter(([key]) => keys.includes(key)));
}

function fieldSchema(schema: Schema | undefined, field: string): Schema | undefined {
  const own = schema?.properties;
  if (own !== undefined && Object.hasOwn(own, field)) return own[field];
  const any = schema?.additionalProperties;
  return typeof any === 'object' ? any : undefined;
}

function without(fields: Fields, name: string): Fields {
  const { [name]: _, ...rest } = fields;
  return rest;
}
