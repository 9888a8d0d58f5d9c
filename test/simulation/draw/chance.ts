import type { Random } from '../../../src/platform/random.ts';

/** True with this probability. */
export function chance(random: Random, share: number): boolean {
  return random.next() < share;
}

/** Part of an object, present with this probability. */
export function maybe<T extends object>(random: Random, share: number, part: () => T): T | Record<string, never> {
  return chance(random, share) ? part() : {};
}

/** A non-empty selection of the items, in their order. */
export function some<T>(random: Random, items: readonly T[]): readonly T[] {
  const drawn = items.filter(() => chance(random, 0.6));
  return drawn.length > 0 ? drawn : [random.pick(items)];
}
