/** What is different for some offerings, in the list of a SimulatedNodeClass: the last that fits counts. */
import type { SimulatedNodeClassSpec } from '../../apis/spindrift/simulated-node-class.ts';
import { includes, type OfferingPattern, overlaps } from './offering-pattern.ts';

/** One entry of the list. */
export type Override = NonNullable<SimulatedNodeClassSpec['overrides']>[number];

/** The list with a change for the offerings of a pattern; the change comes last, so that it counts. */
export function overridden(
  overrides: readonly Override[],
  pattern: OfferingPattern,
  change: Partial<Pick<Override, 'capacity' | 'priceFactor'>>,
): Override[] {
  const isSame = (other: Override): boolean => includes(pattern, other) && includes(other, pattern);
  const before = overrides.find(isSame);
  // Narrower ones say something else about the same thing, and would have no say after a wider one.
  const silenced = (other: Override): Override[] => {
    if (isSame(other)) return [];
    if (!includes(pattern, other)) return [other];
    const kept = Object.fromEntries(
      Object.entries(other).filter(([field]) => change[field as keyof typeof change] === undefined),
    ) as unknown as Override;
    return kept.capacity === undefined && kept.priceFactor === undefined ? [] : [kept];
  };
  return [...overrides.flatMap(silenced), { ...before, ...pattern, ...change }];
}

/** The list as if nobody had changed the offerings of a pattern, or some of them. */
export function restored(overrides: readonly Override[], pattern: OfferingPattern): Override[] {
  return overrides.filter((other) => !includes(pattern, other));
}

/** What still changes some offerings of a pattern. */
export function remaining(overrides: readonly Override[], pattern: OfferingPattern): Override[] {
  return overrides.filter((other) => overlaps(other, pattern));
}
