/** Edits spec.overrides of a SimulatedNodeClass, where the last entry that matches an offering wins. */
import type { SimulatedNodeClassSpec } from '../../apis/spindrift/simulated-node-class.ts';
import { includes, type OfferingPattern, overlaps } from './offering-pattern.ts';

/** One entry of the list. */
export type Override = NonNullable<SimulatedNodeClassSpec['overrides']>[number];

/**
 * Adds a change for the offerings of a pattern. The entry of a pattern moves to the end as a whole, so that it wins over
 * earlier entries.
 */
export function overridden(
  overrides: readonly Override[],
  pattern: OfferingPattern,
  change: Partial<Pick<Override, 'capacity' | 'priceFactor'>>,
): Override[] {
  const isSame = (other: Override): boolean => includes(pattern, other) && includes(other, pattern);
  const others = overrides.filter((other) => !isSame(other));
  return [...others, { ...overrides.find(isSame), ...pattern, ...change }];
}

/** Removes the entries that the pattern includes. */
export function restored(overrides: readonly Override[], pattern: OfferingPattern): Override[] {
  return overrides.filter((other) => !includes(pattern, other));
}

/** Entries that still change offerings of the pattern. */
export function remaining(overrides: readonly Override[], pattern: OfferingPattern): Override[] {
  return overrides.filter((other) => overlaps(other, pattern));
}
