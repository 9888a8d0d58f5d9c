import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../platform/random.ts';
import type { PodGroup, Problem, Quality } from './problem.ts';
import { solve } from './solve.ts';
import { aPod, aPool, aProblem, aType, GIB, HOSTNAME, onDemand, ZONE } from './testkit/builders.ts';
import { verify } from './verify/verify.ts';

const MIB = 1024 ** 2;

/** A constraint of a pod besides its requests. */
type Rule = 'none' | 'zones' | 'apart' | 'zone-b';

function podOf(index: number, seed: string, rule: Rule): PodGroup {
  const draw = seededRandom(seed).split(`${index}`);
  const cpu = Math.round(50 * 60 ** draw.next());
  const app = `app-${index % 7}`;
  const selector = { matchLabels: { app } };
  return aPod({
    name: `p${index}`,
    labels: { app },
    requests: { cpu, memory: Math.round(cpu * (0.5 + 6 * draw.next())) * MIB },
    ...(rule === 'zones'
      ? { topologySpread: [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', selector }] }
      : {}),
    ...(rule === 'apart' ? { podAntiAffinity: [{ topologyKey: HOSTNAME, selector }] } : {}),
    ...(rule === 'zone-b' ? { requirements: [[{ key: ZONE, operator: 'In', values: ['b'] }]] } : {}),
  });
}

const TYPES = [2, 4, 8, 16, 32].flatMap((cores) =>
  [2, 4, 8].map((gib) =>
    aType({
      name: `t${cores}-${gib}`,
      capacity: { cpu: cores * 1000, memory: cores * gib * GIB, pods: 20 + 4 * cores },
      offerings: onDemand(cores * (0.03 + 0.005 * gib), 'a', 'b', 'c').map((offering, zone) => ({
        ...offering,
        price: offering.price * (1 + 0.1 * zone),
      })),
    }),
  ),
);

const problems = fc
  .record({
    count: fc.integer({ min: 430, max: 600 }),
    seed: fc.string({ minLength: 1, maxLength: 8 }),
    rules: fc.array(fc.constantFrom<Rule>('none', 'none', 'zones', 'apart', 'zone-b'), { minLength: 1, maxLength: 3 }),
    nodes: fc.option(fc.integer({ min: 3, max: 12 }), { nil: undefined }),
  })
  .map(({ count, seed, rules, nodes }): Problem => {
    const pods = Array.from({ length: count }, (_, index) => podOf(index, seed, rules[index % rules.length] as Rule));
    const pools = [aPool(nodes === undefined ? {} : { limits: { nodes } })];
    return aProblem({ pods, pools, instanceTypes: TYPES });
  });

describe('a plan for pods of which no two are alike', () => {
  it('keeps every rule, and places all of them where nothing limits it', () => {
    fc.assert(
      fc.property(problems, fc.constantFrom<Quality>('fast', 'balanced'), (problem, quality) => {
        const solution = solve(problem, { quality, maxSteps: 400_000 });
        expect(verify(problem, solution)).toEqual([]);
        if (problem.pools[0]?.limits === undefined) expect(solution.unplaced).toEqual([]);
        expect(solution.lowerBound).toBeLessThanOrEqual(solution.price + 1e-9);
      }),
      { numRuns: 10 },
    );
  });

  it('costs little more than pods would that can be cut', () => {
    const pods = Array.from({ length: 1500 }, (_, index) => podOf(index, 'price', 'none'));
    const solution = solve(aProblem({ pods, instanceTypes: TYPES }), { maxSteps: 3_000_000 });
    expect(solution.price / solution.lowerBound).toBeLessThan(1.06);
  });
});
