/** Sets of fields, as `managedFields` records ownership. Immutable; subtrees are shared. */

/**
 * A tree of fields: whether the field itself is in the set, and the sets below it. Keys are FieldsV1 path elements:
 * `f:name` for a field, `k:{"name":"x"}` for an item of a list with keys, `v:"x"` for a value of a set.
 */
export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

/** The wire form: nested objects, with `.` for the field itself. */
export interface FieldsV1 {
  readonly [element: string]: FieldsV1;
}

const NO_CHILDREN: ReadonlyMap<string, FieldSet> = new Map();
/** A set without fields. */
export const EMPTY: FieldSet = { member: false, children: NO_CHILDREN };
/** The field itself and nothing below it. */
export const LEAF: FieldSet = { member: true, children: NO_CHILDREN };

/** Whether the set has no fields. */
export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

/** Builds a set. Without children it is the shared LEAF or EMPTY. */
export function setOf(member: boolean, children: ReadonlyMap<string, FieldSet>): FieldSet {
  if (children.size === 0) return member ? LEAF : EMPTY;
  return { member, children };
}

/** Fields in either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  const children = new Map(a.children);
  for (const [element, child] of b.children) {
    const other = children.get(element);
    children.set(element, other === undefined ? child : union(other, child));
  }
  return { member: a.member || b.member, children };
}

/** Fields in the first set but not in the second. Returns the first set itself if nothing is removed. */
export function minus(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a) || isEmpty(b)) return a;
  return withChildren(a, a.member && !b.member, b, minus);
}

/** Removes the second set's fields and everything below them. Returns the first set itself if nothing is removed. */
export function minusTrees(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a) || isEmpty(b)) return a;
  return b.member ? EMPTY : withChildren(a, a.member, b, minusTrees);
}

function withChildren(
  a: FieldSet,
  member: boolean,
  b: FieldSet,
  subtract: (a: FieldSet, b: FieldSet) => FieldSet,
): FieldSet {
  let children: Map<string, FieldSet> | undefined;
  for (const [element, other] of b.children) {
    const child = a.children.get(element);
    if (child === undefined) continue;
    const rest = subtract(child, other);
    if (rest === child) continue;
    children ??= new Map(a.children);
    if (isEmpty(rest)) children.delete(element);
    else children.set(element, rest);
  }
  if (children === undefined) return member === a.member ? a : setOf(member, a.children);
  return setOf(member, children);
}

/** Fields in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a) || isEmpty(b)) return EMPTY;
  const children = new Map<string, FieldSet>();
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined) continue;
    const both = intersection(child, other);
    if (!isEmpty(both)) children.set(element, both);
  }
  return setOf(a.member && b.member, children);
}

/** Whether both hold the same fields. */
export function sameSet(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.member !== b.member || a.children.size !== b.children.size) return false;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined || !sameSet(child, other)) return false;
  }
  return true;
}

/** All paths in the set. At each level the fields themselves come first, then the fields below them. */
export function* pathsOf(set: FieldSet, prefix: readonly string[] = []): Generator<readonly string[]> {
  const sorted = [...set.children].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [element, child] of sorted) if (child.member) yield [...prefix, element];
  for (const [element, child] of sorted) yield* pathsOf(child, [...prefix, element]);
}

/** A path in readable form: `.spec.containers[name="web"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join('');
}

function elementText(element: string): string {
  const value = element.slice(2);
  if (element.startsWith('f:')) return `.${value}`;
  if (element.startsWith('v:')) return `[=${value}]`;
  const keys = Object.entries(JSON.parse(value) as Record<string, unknown>);
  return `[${keys.map(([name, key]) => `${name}=${JSON.stringify(key)}`).join(',')}]`;
}

const read = new WeakMap<object, FieldSet>();
const LARGEST_INTERNED = 4096;
const interned = new Map<string, FieldsV1>();

/** The wire form of a set. Equal sets share one object: the pods of a workload all have the same fields. */
export function toFieldsV1(set: FieldSet): FieldsV1 {
  const key = keyOf(set);
  const known = interned.get(key);
  if (known !== undefined) return known;
  const fields = written(set);
  freeze(fields);
  if (interned.size >= LARGEST_INTERNED) interned.clear();
  interned.set(key, fields);
  read.set(fields, set);
  return fields;
}

/** A key that only equal sets share. Its separators cannot occur in field names. */
function keyOf(set: FieldSet): string {
  let text = set.member ? '.' : '';
  for (const [element, child] of set.children) text += `\u0001${element}\u0002${keyOf(child)}\u0003`;
  return text;
}

function written(set: FieldSet): FieldsV1 {
  const fields: Record<string, FieldsV1> = {};
  if (set.member && set.children.size > 0) fields['.'] = {};
  for (const [element, child] of [...set.children].sort(([a], [b]) => (a < b ? -1 : 1)))
    fields[element] = written(child);
  return fields;
}

function freeze(fields: FieldsV1): void {
  Object.freeze(fields);
  for (const child of Object.values(fields)) freeze(child);
}

/** The inverse of {@link toFieldsV1}. Other values give an empty set. */
export function fromFieldsV1(fields: unknown): FieldSet {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return EMPTY;
  const known = read.get(fields);
  if (known !== undefined) return known;
  const set = parsed(fields as FieldsV1, true);
  read.set(fields, set);
  return set;
}

function parsed(fields: FieldsV1, root: boolean): FieldSet {
  const children = new Map<string, FieldSet>();
  let member = false;
  for (const [element, child] of Object.entries(fields)) {
    if (element === '.') member = true;
    else if (/^[fkv]:/.test(element) && typeof child === 'object' && child !== null) {
      children.set(element, parsed(child, false));
    }
  }
  return setOf(member || (children.size === 0 && !root), children);
}
