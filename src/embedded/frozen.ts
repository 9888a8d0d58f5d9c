/**
 * Objects in the store are frozen all the way down and shared: between the store, its log, every watcher and every caller.
 * What a caller hands in is copied once; the parts of it that came out of the store are kept as they are.
 */

/**
 * A frozen copy with JSON's meaning: fields that are undefined go, and so does whatever JSON cannot say. A part that is
 * frozen already is taken as it is, so it must be frozen all the way down; objects out of the store are.
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
  // A copy of the whole has the compact form of what was given; one that is put together field by field has not.
  const result = { ...fields };
  for (const name of names) {
    const field = result[name];
    if (typeof field === 'object' && field !== null && !Object.isFrozen(field)) setField(result, name, copy(field));
  }
  return Object.freeze(result);
}

/** Whether JSON would say the field at all. */
function isSaid(field: unknown): boolean {
  return field !== undefined && typeof field !== 'function';
}

function onlySaid(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const said: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) if (isSaid(fields[name])) setField(said, name, fields[name]);
  return said;
}

/** Plain assignment to `__proto__` would change what the object is, instead of giving it a field of that name. */
function setField(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

const texts = new WeakMap<object, string>();

/** The JSON of a frozen object, made once and kept as long as the object lives. */
export function jsonText(object: object): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

/** Whether two JSON values say the same; parts that are one and the same object cost nothing. */
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
