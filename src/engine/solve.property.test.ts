import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PodGroup, Problem } from './problem.ts';
import type { Solution } from './solution.ts';
import { solve, solveSteps } from './solve.ts';
import { anyProblem } from './testkit/arbitrary-problem.ts';
import { aPod, aPool, aProblem, aType, GIB } from './testkit/builders.ts';
import { verify } from './verify/verify.ts';

const STEPS = 20_000;

/** A solution without its times, which differ between runs. */
function timeless({ phases: _, ...rest }: Solution): Omit<Solution, 'phases'> {
  return rest;
}

/** Plain pods and machines, so that prices can be compared. */
const packing = fc
  .record({
    pods: fc.array(
      fc.record({
        cpu: fc.integer({ min: 100, max: 3000 }),
        gib: fc.integer({ min: 1, max: 8 }),
        count: fc.integer({ min: 1, max: 12 }),
      }),
      {
        minLength: 1,
        maxLength: 6,
      },
    ),
    types: fc.array(
      fc.record({
        cores: fc.integer({ min: 3, max: 16 }),
        gibPerCore: fc.integer({ min: 2, max: 8 }),
        price: fc.integer({ min: 10, max: 900 }),
      }),
      {
        minLength: 2,
        maxLength: 6,
      },
    ),
  })
  .map(({ pods, types }) =>
    aProblem({
      pods: pods.map(({ cpu, gib, count }, index) =>
        aPod({ name: `p${index}`, count, requests: { cpu, memory: gib * GIB } }),
      ),
      instanceTypes: types.map(({ cores, gibPerCore, price }, index) =>
        aType({
          name: `t${index}`,
          capacity: { cpu: cores * 1000, memory: cores * gibPerCore * GIB, pods: 20 },
          offerings: [{ zone: 'a', capacityType: 'on-demand', price: price / 100 }],
        }),
      ),
    }),
  );

describe('every plan', () => {
  it('keeps every rule, whatever is asked', () => {
    fc.assert(
      fc.property(anyProblem, fc.constantFrom('fast' as const, 'balanced' as const), (problem, quality) => {
        expect(verify(problem, solve(problem, { quality, maxSteps: STEPS }))).toEqual([]);
      }),
      { numRuns: 120 },
    );
  });

  it('is the same for the same problem', () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const options = { maxSteps: STEPS };
        expect(timeless(solve(structuredClone(problem), options))).toEqual(timeless(solve(problem, options)));
      }),
      { numRuns: 40 },
    );
  });

  it('does not depend on how alike pods are grouped or in which order they come', () => {
    fc.assert(
      fc.property(anyProblem, fc.nat(), (problem, turn) => {
        const single = problem.pods.flatMap((group) =>
          Array.from({ length: group.count ?? 1 }, (): PodGroup => ({ ...group, count: 1 })),
        );
        const at = turn % single.length;
        const turned: Problem = { ...problem, pods: [...single.slice(at), ...single.slice(0, at)] };
        const [a, b] = [problem, turned].map((one) => solve(one, { maxSteps: STEPS }));
        expect(b!.price).toBeCloseTo(a!.price, 9);
        expect(b!.order).toHaveLength(a!.order.length);
        expect(b!.newNodes.map((node) => node.offerings[0])).toEqual(a!.newNodes.map((node) => node.offerings[0]));
      }),
      { numRuns: 40 },
    );
  });

  it('in slices is the plan in one go', () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const slices = solveSteps(problem, { maxSteps: STEPS });
        let step = slices.next();
        while (step.done !== true) step = slices.next();
        expect(timeless(step.value)).toEqual(timeless(solve(problem, { maxSteps: STEPS })));
      }),
      { numRuns: 20 },
    );
  });
});

describe('the price', () => {
  it('is never below the bound, and the bound is never above what a shorter look found', () => {
    fc.assert(
      fc.property(packing, (problem) => {
        const fast = solve(problem, { quality: 'fast' });
        const balanced = solve(problem, { maxSteps: STEPS });
        expect(balanced.lowerBound).toBeLessThanOrEqual(Math.min(fast.price, balanced.price) * (1 + 1e-9));
        expect(balanced.price).toBeLessThanOrEqual(fast.price * (1 + 1e-9));
      }),
      { numRuns: 100 },
    );
  });

  it('is no worse with more time', () => {
    fc.assert(
      fc.property(packing, (problem) => {
        const prices = [2_000, 20_000, 200_000].map((maxSteps) => solve(problem, { maxSteps }).price);
        expect(prices[1]).toBeLessThanOrEqual(prices[0]! * (1 + 1e-9));
        expect(prices[2]).toBeLessThanOrEqual(prices[1]! * (1 + 1e-9));
      }),
      { numRuns: 40 },
    );
  });

  it('does not rise with one more offering beyond the gap that is reported', () => {
    fc.assert(
      fc.property(packing, fc.integer({ min: 10, max: 900 }), (problem, cents) => {
        const more = aType({
          name: 'more',
          capacity: { cpu: 8000, memory: 32 * GIB, pods: 20 },
          offerings: [{ zone: 'a', capacityType: 'spot', price: cents / 100 }],
        });
        const before = solve(problem, { maxSteps: STEPS });
        const after = solve({ ...problem, instanceTypes: [...problem.instanceTypes, more] }, { maxSteps: STEPS });
        expect(after.order.length).toBeGreaterThanOrEqual(before.order.length);
        if (after.order.length > before.order.length) return;
        expect(after.price).toBeLessThanOrEqual(before.price / (1 - after.gap) + 1e-9);
      }),
      { numRuns: 100 },
    );
  });

  it('of pools of equal weight is compared over all of them', () => {
    const cheap = aType({ name: 'cheap', offerings: [{ zone: 'a', capacityType: 'spot', price: 0.1 }] });
    const pools = [aPool({ name: 'one', instanceTypes: ['medium'] }), aPool({ name: 'two', instanceTypes: ['cheap'] })];
    const solution = solve(aProblem({ pools, instanceTypes: [aType(), cheap] }));
    expect(solution.newNodes.map(({ pool, price }) => [pool, price])).toEqual([['two', 0.1]]);
  });
});
