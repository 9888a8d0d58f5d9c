/**
 * Objects in the store are deeply frozen, and shared by the store, its log, all watches and all callers. An object that
 * a caller passes in is copied once; its parts that came from the store are kept as they are.
 */

/**
 * A frozen copy with JSON semantics: undefined fields and values that JSON cannot express are dropped. A part that is
 * already frozen is kept as it is, so it must be deeply frozen; objects from the store are.
 */
export function frozenCopy<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((item) => (item === undefined ? null : copy(item))));
  const fields = value as Record<string, unknown>;
  const names = Object.keys(fields);
  if (!names.every((name) => isSaid(fields[name]))) return copy(onlySaid(fields));
  // A spread copy keeps the compact memory layout of the original; a copy built field by field does not.
  const result = { ...fields };
  for (const name of names) {
    const field = result[name];
    if (typeof field === 'object' && field !== null && !Object.isFrozen(field)) setField(result, name, copy(field));
  }
  return Object.freeze(result);
}

/** Whether JSON would include the field. */
function isSaid(field: unknown): boolean {
  return field !== undefined && typeof field !== 'function';
}

function onlySaid(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const said: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) if (isSaid(fields[name])) setField(said, name, fields[name]);
  return said;
}

/** Plain assignment to `__proto__` would change the prototype instead of adding a field. */
function setField(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

const texts = new WeakMap<object, string>();

/** The JSON of a frozen object, cached for as long as the object lives. */
export function jsonText(object: object): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

/** Whether two JSON values are equal. Parts that are the same object cost nothing to compare. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  let count = 0;
  for (const key in left) {
    if (left[key] === undefined) continue;
    count++;
    if (!sameJson(left[key], right[key])) return false;
  }
  for (const key in right) if (right[key] !== undefined) count--;
  return count === 0;
}
