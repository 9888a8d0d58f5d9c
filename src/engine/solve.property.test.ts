import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Problem, SolveOptions } from './problem.ts';
import type { Solution } from './solution.ts';
import { solve } from './solve.ts';
import { anyProblem } from './testkit/arbitrary-problem.ts';
import { exactPrice } from './testkit/exact-price.ts';
import { verify } from './verify/verify.ts';

const FAST: SolveOptions = { quality: 'fast' };
const BALANCED: SolveOptions = { quality: 'balanced', maxSteps: 2000 };

const unplacedCount = (solution: Solution) => solution.unplaced.reduce((sum, entry) => sum + entry.pods.length, 0);

/** Problems in which nothing is put before the price, and in which all pods need new nodes. */
const priceOnly = anyProblem.map(
  (problem): Problem => ({
    ...problem,
    nodes: [],
    boundPods: [],
    pools: problem.pools.map(({ limits: _, ...pool }) => ({ ...pool, weight: 0 })),
    pods: problem.pods.map((group) => ({ ...group, ordered: false })),
  }),
);

/** Problems of at most six pods whose optimum can be found by trying everything. */
const enumerable = priceOnly.map((problem): Problem => {
  let left = 6;
  const closed = ({ key }: { readonly key: string }) => key !== 'team' && key !== 'nobody-has-this';
  return {
    ...problem,
    pods: problem.pods
      .map(({ name, namespace, requests, count = 1, requirements = [], tolerations = [], hostPorts = [] }) => {
        const taken = Math.min(count, left);
        left -= taken;
        return { name, namespace, requests, count: taken, requirements, tolerations, hostPorts };
      })
      .filter(({ count }) => count > 0),
    pools: problem.pools.map(({ requirements = [], labels: _, ...pool }) => ({
      ...pool,
      requirements: requirements.filter(closed).map(({ minValues: __, ...requirement }) => requirement),
    })),
    instanceTypes: problem.instanceTypes.map(({ requirements: _, ...type }) => ({
      ...type,
      offerings: type.offerings.filter(({ slots }) => slots === undefined),
    })),
  };
});

describe('any problem', () => {
  it('is solved by a plan that breaks no rule, fast', () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        expect(verify(problem, solve(problem, FAST))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  it('is solved by a plan that breaks no rule, balanced', () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        expect(verify(problem, solve(problem, BALANCED))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('has the same answer every time', () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        expect(solve(structuredClone(problem), BALANCED)).toEqual(solve(problem, BALANCED));
      }),
    );
  });

  it('has the same answer when a group of pods is written as two', () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const pods = problem.pods.flatMap((group) => {
          const count = group.count ?? 1;
          return count < 2
            ? [group]
            : [
                { ...group, count: 1 },
                { ...group, count: count - 1 },
              ];
        });
        const [whole, split] = [solve(problem, BALANCED), solve({ ...problem, pods }, BALANCED)];
        expect(split.price).toBe(whole.price);
        expect(split.newNodes).toEqual(whole.newNodes);
        expect(split.existing).toEqual(whole.existing);
      }),
    );
  });

  it('is never solved worse with more time', () => {
    fc.assert(
      fc.property(anyProblem, fc.constantFrom(0, 1, 10, 100), (problem, maxSteps) => {
        const less = solve(problem, { quality: 'balanced', maxSteps });
        const more = solve(problem, { quality: 'balanced', maxSteps: maxSteps * 10 + 10 });
        expect(unplacedCount(more)).toBeLessThanOrEqual(unplacedCount(less));
        if (unplacedCount(more) === unplacedCount(less)) expect(more.price).toBeLessThanOrEqual(less.price + 1e-9);
      }),
    );
  });

  it('is never solved worse by balanced than by fast', () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const [fast, balanced] = [solve(problem, FAST), solve(problem, BALANCED)];
        expect(unplacedCount(balanced)).toBeLessThanOrEqual(unplacedCount(fast));
        if (unplacedCount(balanced) === unplacedCount(fast)) {
          expect(balanced.price).toBeLessThanOrEqual(fast.price + 1e-9);
        }
      }),
    );
  });

  it('has a lower bound that no other plan for all pods beats', () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const [fast, balanced] = [solve(problem, FAST), solve(problem, BALANCED)];
        // Only plans that buy for the same pods can be compared; existing nodes take a share of them.
        fc.pre(unplacedCount(fast) === 0 && unplacedCount(balanced) === 0 && (problem.nodes ?? []).length === 0);
        expect(balanced.lowerBound).toBeLessThanOrEqual(fast.price + 1e-9);
        expect(fast.lowerBound).toBeLessThanOrEqual(balanced.price + 1e-9);
      }),
    );
  });

  it('small enough to try everything costs no less than the optimum, which is not below the bound', () => {
    fc.assert(
      fc.property(enumerable, (problem) => {
        fc.pre(problem.instanceTypes.every((type) => type.offerings.length > 0));
        const optimum = exactPrice(problem);
        const balanced = solve(problem, { ...BALANCED, preferences: false });
        if (optimum === undefined) expect(unplacedCount(balanced)).toBeGreaterThan(0);
        else {
          expect(unplacedCount(balanced)).toBe(0);
          expect(balanced.price).toBeGreaterThanOrEqual(optimum - 1e-9);
          expect(balanced.lowerBound).toBeLessThanOrEqual(optimum + 1e-9);
          expect(solve(problem, FAST).lowerBound).toBeLessThanOrEqual(optimum + 1e-9);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('does not become dearer by one more offering, beyond the gap that is reported', () => {
    fc.assert(
      fc.property(
        priceOnly,
        fc.nat(4),
        fc.integer({ min: 1, max: 4000 }),
        fc.constantFrom(1, 2),
        (problem, at, mills, factor) => {
          const model = problem.instanceTypes[at % problem.instanceTypes.length]!;
          // A copy with the same labels in the same zones changes nothing about topology.
          const copy = {
            ...model,
            name: `${model.name}-copy`,
            capacity: Object.fromEntries(
              Object.entries(model.capacity).map(([name, amount]) => [name, amount * factor]),
            ),
            offerings: model.offerings
              .filter((offering) => offering.capacityType !== 'reserved')
              .map((offering) => ({ ...offering, price: mills / 1000 })),
          };
          const options = { ...BALANCED, preferences: false };
          const before = solve(problem, options);
          const after = solve({ ...problem, instanceTypes: [...problem.instanceTypes, copy] }, options);
          fc.pre(unplacedCount(before) === 0 && unplacedCount(after) === 0);
          expect(after.price * (1 - after.gap)).toBeLessThanOrEqual(before.price + 1e-9);
        },
      ),
    );
  });
});
