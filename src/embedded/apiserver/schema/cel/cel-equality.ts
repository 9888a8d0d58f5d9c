/** Marks lists whose order does not matter (x-kubernetes-list-type set or map), so that equality ignores it. */
const UNORDERED = Symbol('unordered');

/** Marks a list as unordered. */
export function unordered(list: unknown[]): unknown[] {
  return Object.defineProperty(list, UNORDERED, { value: true });
}

function isUnordered(list: readonly unknown[]): boolean {
  return UNORDERED in list;
}

/** CEL equality: numbers by value, lists and maps by content, objects by their set fields. */
export function celEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint' && typeof b === 'number') return Number(a) === b;
  if (typeof a === 'number' && typeof b === 'bigint') return a === Number(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && sameLists(a, b);
  if (a instanceof Map) return b instanceof Map && sameMaps(a, b);
  if (a.constructor !== b.constructor) return false;
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array) === 0;
  const [keys, otherKeys] = [Object.keys(a), Object.keys(b)];
  if (keys.length === 0 && otherKeys.length === 0 && typeof a.valueOf() !== 'object')
    return a.valueOf() === b.valueOf();
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return (
    keys.length === otherKeys.length &&
    keys.every((key) => Object.hasOwn(right, key) && celEqual(left[key], right[key]))
  );
}

function sameLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  if (a.every((item, index) => celEqual(item, b[index]))) return true;
  return isUnordered(a) && a.every((item) => b.some((candidate) => celEqual(item, candidate)));
}

function sameMaps(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (!b.has(key) || !celEqual(value, b.get(key))) return false;
  return true;
}
