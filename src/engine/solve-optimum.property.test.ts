import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Problem, SolveOptions } from './problem.ts';
import type { Solution } from './solution.ts';
import { solve } from './solve.ts';
import { anyProblem } from './testkit/arbitrary-problem.ts';
import { exactPrice } from './testkit/exact-price.ts';

const FAST: SolveOptions = { quality: 'fast', preferences: false };
const BALANCED: SolveOptions = { quality: 'balanced', maxSteps: 2000, preferences: false };

const unplacedCount = (solution: Solution) => solution.unplaced.reduce((sum, entry) => sum + entry.pods.length, 0);

/** Problems of at most six pods without topology, limits or existing nodes: their optimum is found by trying everything. */
const enumerable = anyProblem
  .map((problem): Problem => {
    let left = 6;
    const isSettled = ({ key }: { readonly key: string }) => key !== 'team' && key !== 'nobody-has-this';
    return {
      ...problem,
      nodes: [],
      boundPods: [],
      pods: problem.pods
        .map(({ name, namespace, requests, count = 1, requirements = [], tolerations = [], hostPorts = [] }) => {
          const taken = Math.min(count, left);
          left -= taken;
          return { name, namespace, requests, count: taken, requirements, tolerations, hostPorts };
        })
        .filter(({ count }) => count > 0),
      pools: problem.pools.map(({ requirements = [], labels: _, limits: __, ...pool }) => ({
        ...pool,
        weight: 0,
        requirements: requirements.filter(isSettled).map(({ minValues: ___, ...requirement }) => requirement),
      })),
      instanceTypes: problem.instanceTypes.map(({ requirements: _, ...type }) => ({
        ...type,
        offerings: type.offerings.filter(({ slots }) => slots === undefined),
      })),
    };
  })
  .filter(({ instanceTypes }) => instanceTypes.every(({ offerings }) => offerings.length > 0));

describe('the plan for a problem small enough to try everything', () => {
  it('places all pods when that is possible, and has the optimum between its bound and its price', () => {
    fc.assert(
      fc.property(enumerable, (problem) => {
        const optimum = exactPrice(problem);
        const [fast, balanced] = [solve(problem, FAST), solve(problem, BALANCED)];
        if (optimum === undefined) {
          expect(unplacedCount(balanced)).toBeGreaterThan(0);
          return;
        }
        expect(unplacedCount(balanced)).toBe(0);
        expect(balanced.price).toBeGreaterThanOrEqual(optimum - 1e-9);
        expect(balanced.lowerBound).toBeLessThanOrEqual(optimum + 1e-9);
        expect(fast.lowerBound).toBeLessThanOrEqual(optimum + 1e-9);
      }),
      { numRuns: 150 },
    );
  });

  it('is the optimum nine times in ten', () => {
    const problems = fc.sample(enumerable, { seed: 1, numRuns: 150 });
    const priced = problems.flatMap((problem) => {
      const optimum = exactPrice(problem);
      return optimum === undefined ? [] : [{ optimum, price: solve(problem, BALANCED).price }];
    });
    const optimal = priced.filter(({ optimum, price }) => price <= optimum + 1e-9);
    expect(priced.length).toBeGreaterThan(30);
    expect(optimal.length / priced.length).toBeGreaterThan(0.9);
  });
});

describe('the plan for any problem', () => {
  it('is never worse balanced than fast', () => {
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
});
