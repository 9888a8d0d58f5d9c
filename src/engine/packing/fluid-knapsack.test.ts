import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FluidKnapsack } from './fluid-knapsack.ts';

const item = fc.record({
  value: fc.integer({ min: 1, max: 20 }),
  most: fc.integer({ min: 0, max: 3 }),
  takes: fc.tuple(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 1, max: 10 })),
});

interface Item {
  readonly value: number;
  readonly most: number;
  readonly takes: readonly [number, number];
}

/** The best whole filling of a machine with 10 of each resource, by trying all. */
function bestWhole(items: readonly Item[], left: readonly [number, number] = [10, 10]): number {
  const [first, ...rest] = items;
  if (first === undefined) return 0;
  let best = 0;
  for (let count = 0; count <= first.most; count++) {
    const after: [number, number] = [left[0] - count * first.takes[0], left[1] - count * first.takes[1]];
    if (after[0] < 0 || after[1] < 0) break;
    best = Math.max(best, count * first.value + bestWhole(rest, after));
  }
  return best;
}

function filled(items: readonly Item[]): { knapsack: FluidKnapsack; bound: number } {
  const knapsack = new FluidKnapsack(items.length, 2);
  const share = Float64Array.from(items.flatMap(({ takes }) => takes.map((amount) => amount / 10)));
  const value = Float64Array.from(items, (one) => one.value);
  const most = Float64Array.from(items, (one) => one.most);
  knapsack.fill(items.length, share, value, most);
  return { knapsack, bound: knapsack.bound(items.length, share, value, most) };
}

describe('a machine filled with pods that may be cut', () => {
  it('is within its capacity and its numbers, and worth at least as much as any whole filling', () => {
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 5 }), (items) => {
        const { knapsack, bound } = filled(items);
        items.forEach(({ most }, index) => {
          expect(knapsack.amount[index]).toBeGreaterThanOrEqual(0);
          expect(knapsack.amount[index]).toBeLessThanOrEqual(most + 1e-9);
        });
        for (const resource of [0, 1] as const) {
          const used = items.reduce((sum, { takes }, index) => sum + takes[resource] * knapsack.amount[index]!, 0);
          expect(used).toBeLessThanOrEqual(10 + 1e-6);
        }
        expect(knapsack.value).toBeGreaterThanOrEqual(bestWhole(items) - 1e-6);
        expect(bound).toBeCloseTo(knapsack.value, 6);
      }),
    );
  });

  it('takes the densest pods first when there is one scarce resource', () => {
    const { knapsack } = filled([
      { value: 10, most: 1, takes: [0, 5] },
      { value: 9, most: 2, takes: [0, 3] },
    ]);
    expect([...knapsack.amount]).toEqual([expect.closeTo(0.8, 9), expect.closeTo(2, 9)]);
  });
});
