import { type Environment, Optional } from '@marcbachmann/cel-js';
import { celEqual } from '../cel-equality.ts';

type Ordered = bigint | number | string | boolean;

const ORDERED = ['int', 'double', 'string', 'bool', 'google.protobuf.Duration', 'google.protobuf.Timestamp'];

function isSorted(list: readonly Ordered[]): boolean {
  return list.every((item, index) => index === 0 || (list[index - 1] as Ordered) <= item);
}

function extreme(list: readonly Ordered[], name: 'min' | 'max'): Ordered {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return rest.reduce((best, item) => ((name === 'min' ? item < best : item > best) ? item : best), first);
}

function indexIn(list: readonly unknown[], item: unknown, from: 'start' | 'end'): bigint {
  const same = (candidate: unknown): boolean => celEqual(candidate, item);
  return BigInt(from === 'start' ? list.findIndex(same) : list.findLastIndex(same));
}

function distinct(list: readonly unknown[]): unknown[] {
  const found: unknown[] = [];
  for (const item of list) if (!found.some((known) => celEqual(known, item))) found.push(item);
  return found;
}

function slice(list: readonly unknown[], start: bigint, end: bigint): unknown[] {
  if (start < 0n || end < start || end > BigInt(list.length)) {
    throw new Error(`cannot slice(${start}, ${end}), list is length ${list.length}`);
  }
  return list.slice(Number(start), Number(end));
}

function flatten(list: readonly unknown[], depth: bigint): unknown[] {
  if (depth < 0n) throw new Error('level must be non-negative');
  return list.flat(Number(depth));
}

/** The value of the name `lists` in rules, for `lists.range`. */
class ListsNamespace {}

const LARGEST_RANGE = 100_000n;

function range(size: bigint): bigint[] {
  if (size < 0n || size > LARGEST_RANGE) throw new Error(`lists.range: size ${size} is out of range`);
  return Array.from({ length: Number(size) }, (_, index) => BigInt(index));
}

function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (value instanceof Map) return value.size === 0;
  return value === 0n || value === 0 || value === '' || value === false || value === null;
}

/** `isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf` of Kubernetes, and newer list functions of CEL. */
export function registerLists(env: Environment): void {
  for (const type of ORDERED) {
    env
      .registerFunction(`list<${type}>.isSorted(): bool`, isSorted)
      .registerFunction(`list<${type}>.min(): ${type}`, (list) => extreme(list, 'min'))
      .registerFunction(`list<${type}>.max(): ${type}`, (list) => extreme(list, 'max'))
      .registerFunction(`list<${type}>.sort(): list<${type}>`, (list: Ordered[]) =>
        [...list].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
      );
  }
  env
    .registerFunction('list<int>.sum(): int', (list: bigint[]) => list.reduce((sum, item) => sum + item, 0n))
    .registerFunction('list<double>.sum(): double', (list: number[]) => list.reduce((sum, item) => sum + item, 0))
    .registerFunction('list.indexOf(dyn): int', (list, item) => indexIn(list, item, 'start'))
    .registerFunction('list.lastIndexOf(dyn): int', (list, item) => indexIn(list, item, 'end'))
    .registerFunction('list<T>.distinct(): list<T>', distinct)
    .registerFunction('list<T>.reverse(): list<T>', (list: unknown[]) => list.toReversed())
    .registerFunction('list<T>.slice(int, int): list<T>', slice)
    .registerFunction('list<T>.first(): optional<T>', (list: unknown[]) => Optional.of(list[0]))
    .registerFunction('list<T>.last(): optional<T>', (list: unknown[]) => Optional.of(list.at(-1)))
    .registerType('ListsNamespace', ListsNamespace)
    .registerConstant('lists', 'ListsNamespace', new ListsNamespace())
    .registerFunction('ListsNamespace.range(int): list<int>', (_, size: bigint) => range(size))
    .registerFunction('OptionalNamespace.ofNonZeroValue(dyn): optional', (_, value) =>
      isZero(value) ? Optional.none() : Optional.of(value),
    )
    .registerFunction('list.flatten(): list', (list) => flatten(list, 1n))
    .registerFunction('list.flatten(int): list', flatten);
}
