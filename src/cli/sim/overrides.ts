/** What is different for some offerings, in the list of a SimulatedNodeClass: the last that fits counts. */
import type { SimulatedNodeClassSpec } from '../../apis/spindrift/simulated-node-class.ts';
import { includes, type OfferingPattern, overlaps } from './offering-pattern.ts';

/** One entry of the list. */
export type Override = NonNullable<SimulatedNodeClassSpec['overrides']>[number];

/**
 * The list with a change for the offerings of a pattern. What is said of a pattern stands in one place, so that it moves to
 * the end as a whole: all of it was said last.
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

/** The list as if nobody had changed the offerings of a pattern, or some of them. */
export function restored(overrides: readonly Override[], pattern: OfferingPattern): Override[] {
  return overrides.filter((other) => !includes(pattern, other));
}

/** What still changes some offerings of a pattern. */
export function remaining(overrides: readonly Override[], pattern: OfferingPattern): Override[] {
  return overrides.filter((other) => overlaps(other, pattern));
}
