import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitNothing, mostPerSpotPool, NO_LIMITS, onDemandWanted, spotShortfalls } from './spot-limits.ts';

describe('the limits of a policy', () => {
  it('ask for the first nodes and a share of the others on demand, rounded up', () => {
    const limits = { ...NO_LIMITS, onDemandBase: 2, onDemandPercent: 25 };
    expect([0, 1, 2, 3, 6, 7, 10].map((nodes) => onDemandWanted(limits, nodes))).toEqual([0, 1, 2, 3, 3, 4, 4]);
  });

  it('never ask for more than there are, and for all at 100 percent', () => {
    const amount = fc.nat({ max: 10_000 });
    fc.assert(
      fc.property(amount, amount, fc.integer({ min: 0, max: 100 }), (nodes, onDemandBase, onDemandPercent) => {
        const wanted = onDemandWanted({ ...NO_LIMITS, onDemandBase, onDemandPercent }, nodes);
        expect(wanted).toBeGreaterThanOrEqual(Math.min(nodes, onDemandBase));
        expect(wanted).toBeLessThanOrEqual(nodes);
        expect(onDemandWanted({ ...NO_LIMITS, onDemandBase, onDemandPercent: 100 }, nodes)).toBe(nodes);
      }),
    );
  });

  it('let one spot pool have its share, rounded down, and always one node', () => {
    const limits = { ...NO_LIMITS, maxPercentPerSpotPool: 30 };
    expect([0, 1, 3, 4, 6, 7, 10].map((nodes) => mostPerSpotPool(limits, nodes))).toEqual([1, 1, 1, 1, 1, 2, 3]);
  });

  it('limit nothing where none is given', () => {
    expect(limitNothing(NO_LIMITS)).toBe(true);
    expect(limitNothing({ ...NO_LIMITS, onDemandBase: 1 })).toBe(false);
    expect(limitNothing({ ...NO_LIMITS, onDemandPercent: 1 })).toBe(false);
    expect(limitNothing({ ...NO_LIMITS, maxPercentPerSpotPool: 99 })).toBe(false);
  });

  it('name each rule that a fleet does not keep', () => {
    const limits = { onDemandBase: 2, onDemandPercent: 0, maxPercentPerSpotPool: 50 };
    const spot = new Map([
      ['small/a', 3],
      ['small/b', 1],
    ]);
    expect(spotShortfalls(limits, { nodes: 5, onDemand: 1, spot })).toEqual([
      { rule: 'on-demand', wanted: 2, actual: 1 },
      { rule: 'spot-pool', spotPool: 'small/a', most: 2, actual: 3 },
    ]);
    expect(spotShortfalls(limits, { nodes: 6, onDemand: 2, spot })).toEqual([]);
    expect(spotShortfalls(NO_LIMITS, { nodes: 5, onDemand: 0, spot })).toEqual([]);
  });
});
