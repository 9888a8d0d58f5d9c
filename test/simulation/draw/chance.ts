import type { Random } from '../../../src/platform/random.ts';

/** True that often. */
export function chance(random: Random, share: number): boolean {
  return random.next() < share;
}

/** Part of an object that is there that often. */
export function maybe<T extends object>(random: Random, share: number, part: () => T): T | Record<string, never> {
  return chance(random, share) ? part() : {};
}

/** Some of the items, one at least, in their order. */
export function some<T>(random: Random, items: readonly T[]): readonly T[] {
  const drawn = items.filter(() => chance(random, 0.6));
  return drawn.length > 0 ? drawn : [random.pick(items)];
}
