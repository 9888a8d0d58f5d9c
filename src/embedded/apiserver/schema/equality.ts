import type { Json } from './schema.ts';

/** Deeper than any real object. Beyond it values count as different instead of overflowing the stack. */
const MAX_DEPTH = 2000;

/** Whether two JSON values are equal. */
export function sameJson(a: Json | undefined, b: Json | undefined, depth = 0): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object' || depth > MAX_DEPTH) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index], depth + 1));
  }
  const left = a as Readonly<Record<string, Json>>;
  const right = b as Readonly<Record<string, Json>>;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key], depth + 1));
}
