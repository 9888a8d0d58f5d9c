import type { Environment } from '@marcbachmann/cel-js';
import { celEqual } from '../cel-equality.ts';

/** The value of the name `sets` in rules, for the functions below. */
class SetsNamespace {}

const contains = (list: readonly unknown[], items: readonly unknown[]): boolean =>
  items.every((item) => list.some((candidate) => celEqual(candidate, item)));

/** `sets.contains`, `sets.equivalent`, `sets.intersects`. */
export function registerSets(env: Environment): void {
  env
    .registerType('SetsNamespace', SetsNamespace)
    .registerConstant('sets', 'SetsNamespace', new SetsNamespace())
    .registerFunction('SetsNamespace.contains(list, list): bool', (_, a, b) => contains(a, b))
    .registerFunction('SetsNamespace.equivalent(list, list): bool', (_, a, b) => contains(a, b) && contains(b, a))
    .registerFunction('SetsNamespace.intersects(list, list): bool', (_, a: unknown[], b: unknown[]) =>
      a.some((item) => b.some((candidate) => celEqual(candidate, item))),
    );
}
