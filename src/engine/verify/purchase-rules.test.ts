import { describe, expect, it } from 'vitest';
import type { Offering } from '../problem.ts';
import { brokenRules } from '../testkit/broken-rules.ts';
import { aPod, aPool, aProblem, aType, onDemand, oneOf, ZONE } from '../testkit/builders.ts';

const reserved = (slots: number): Offering => ({
  zone: 'a',
  capacityType: 'reserved',
  price: 0.001,
  reservationId: 'r-1',
  slots,
});
const spot: Offering = { zone: 'a', capacityType: 'spot', price: 0.3 };
const buy = (...names: string[]) => ({ newNodes: [{ pods: [0], buy: names }] });

describe('each pod', () => {
  const problem = aProblem({ pods: [aPod({ count: 3 })] });

  it('is placed once or unplaced once', () => {
    const small = { ...problem, instanceTypes: [aType({ capacity: { cpu: 1, pods: 10 } })] };
    expect(brokenRules(problem, { newNodes: [{ pods: [0, 1, 2] }] })).toEqual([]);
    expect(brokenRules(small, { unplaced: [{ group: 0, pods: [0, 1, 2] }] })).toEqual([]);
  });

  it.each([
    ['forgotten', { newNodes: [{ pods: [0, 1] }] }],
    ['on two nodes', { newNodes: [{ pods: [0, 1, 2] }, { pods: [2] }] }],
    ['twice on one', { newNodes: [{ pods: [0, 1, 2, 2] }] }],
    ['placed and unplaced', { newNodes: [{ pods: [0, 1, 2] }], unplaced: [{ group: 0, pods: [2] }] }],
    ['one of those that exist', { newNodes: [{ pods: [0, 1, 2, 3] }] }],
  ])('is not %s', (_, plan) => {
    expect(brokenRules(problem, plan)).toContain('each-pod-once');
  });

  it('is unplaced as one of its own group', () => {
    const two = { ...problem, pods: [aPod(), aPod()] };
    expect(brokenRules(two, { newNodes: [{ pods: [0] }], unplaced: [{ group: 0, pods: [1] }] })).toEqual([
      'each-pod-once',
    ]);
  });

  it.each([
    ['leaves one out', [0, 1]],
    ['has one twice', [0, 1, 2, 2]],
    ['has one that is not placed', [0, 1, 2, 9]],
  ])('is in the order once, which never %s', (_, order) => {
    expect(brokenRules(problem, { newNodes: [{ pods: [0, 1, 2] }], order })).toEqual(['order']);
  });
});

describe('what is bought', () => {
  it('is an offering of the catalogue at its price', () => {
    const problem = aProblem();
    expect(brokenRules(problem, buy('medium/b/on-demand'))).toEqual([]);
    expect(brokenRules(problem, buy('medium/z/on-demand'))).toEqual(['unknown-offering']);
    expect(brokenRules(problem, buy('large/a/on-demand'))).toEqual(['unknown-offering']);
    expect(brokenRules(problem, buy())).toEqual(['unknown-offering']);
    const cheaper = { instanceType: 'medium', zone: 'a', capacityType: 'on-demand' as const, price: 0.5 };
    expect(brokenRules(problem, { newNodes: [{ pods: [0], offerings: [cheaper], price: 0.5 }] })).toEqual([
      'unknown-offering',
    ]);
  });

  it('belongs to a pool that exists', () => {
    expect(brokenRules(aProblem(), { newNodes: [{ pods: [0], pool: 'other' }] })).toEqual(['unknown-pool']);
  });

  it('is healthy', () => {
    const offerings = [{ ...spot, healthy: false }, ...onDemand(1, 'a')];
    const problem = aProblem({ instanceTypes: [aType({ offerings })] });
    expect(brokenRules(problem, buy('medium/a/spot'))).toEqual(['unhealthy-offering']);
    expect(brokenRules(problem, buy('medium/a/on-demand'))).toEqual([]);
  });

  it('is of a type that the pool may use', () => {
    const types = [aType(), aType({ name: 'large' })];
    const problem = aProblem({ instanceTypes: types, pools: [aPool({ instanceTypes: ['large'] })] });
    expect(brokenRules(problem, buy('medium/a/on-demand'))).toEqual(['pool-instance-types']);
    expect(brokenRules(problem, buy('large/a/on-demand'))).toEqual([]);
  });

  it('meets the requirements and labels of the pool', () => {
    const problem = aProblem({ pools: [aPool({ requirements: [oneOf(ZONE, 'b')] })] });
    expect(brokenRules(problem, buy('medium/a/on-demand'))).toEqual(['pool-requirements']);
    expect(brokenRules(problem, buy('medium/b/on-demand'))).toEqual([]);
    const types = [aType({ labels: { arch: 'amd64' } }), aType({ name: 'arm', labels: { arch: 'arm64' } })];
    const labelled = aProblem({ instanceTypes: types, pools: [aPool({ labels: { arch: 'arm64' } })] });
    expect(brokenRules(labelled, buy('medium/a/on-demand'))).toEqual(['pool-requirements']);
    expect(brokenRules(labelled, buy('arm/a/on-demand'))).toEqual([]);
  });

  it('meets the requirements that the plan itself states', () => {
    const requirements = [oneOf(ZONE, 'b')];
    expect(brokenRules(aProblem(), { newNodes: [{ pods: [0], requirements }] })).toEqual(['pool-requirements']);
  });

  it.each([
    ['reserved-only', 'medium/a/on-demand', ['capacity-type-policy']],
    ['reserved-only', 'medium/a/spot', ['capacity-type-policy']],
    ['reserved-only', 'medium/a/reserved/r-1', []],
    ['reserved-or-on-demand', 'medium/a/spot', ['capacity-type-policy']],
    ['reserved-or-on-demand', 'medium/a/on-demand', []],
    ['all', 'medium/a/spot', []],
  ] as const)('is of a capacity type that a pool of policy %s allows: %s', (capacityTypePolicy, name, broken) => {
    const type = aType({ offerings: [spot, reserved(1), ...onDemand(1, 'a')] });
    const problem = aProblem({ instanceTypes: [type], pools: [aPool({ capacityTypePolicy })] });
    expect(brokenRules(problem, buy(name))).toEqual(broken);
  });
});

describe('counts and limits', () => {
  const two = { newNodes: [{ pods: [0] }, { pods: [1] }] };
  const pods = [aPod({ count: 2 })];

  it('of a pool hold for the sum of its nodes, with what it had before', () => {
    const limited = (limits: Record<string, number>, usage = {}) =>
      brokenRules(aProblem({ pods, pools: [aPool({ limits, usage })] }), two);
    expect(limited({ cpu: 8000 })).toEqual([]);
    expect(limited({ cpu: 7999 })).toEqual(['limits']);
    expect(limited({ cpu: 9000 }, { cpu: 2000 })).toEqual(['limits']);
    expect(limited({ nodes: 2 })).toEqual([]);
    expect(limited({ nodes: 2 }, { nodes: 1 })).toEqual(['limits']);
    const large = aType({ name: 'large', capacity: { cpu: 16_000, memory: 64 * 1024 ** 3, pods: 100 } });
    const either = (limits: Record<string, number>) =>
      brokenRules(
        aProblem({ pools: [aPool({ limits })], instanceTypes: [aType(), large] }),
        buy('medium/a/on-demand', 'large/a/on-demand'),
      );
    expect(either({ cpu: 16_000 })).toEqual([]);
    expect(either({ cpu: 15_999 })).toEqual(['alternatives']);
  });

  it('of a reservation hold over all types and pools', () => {
    const types = [aType({ offerings: [reserved(1)] }), aType({ name: 'large', offerings: [reserved(1)] })];
    const problem = aProblem({ pods, instanceTypes: types, pools: [aPool(), aPool({ name: 'other' })] });
    const plan = {
      newNodes: [
        { pods: [0], buy: ['medium/a/reserved/r-1'] },
        { pods: [1], pool: 'other', buy: ['large/a/reserved/r-1'] },
      ],
    };
    expect(brokenRules(problem, plan)).toEqual(['slots']);
    const more = types.map((type) => ({ ...type, offerings: [reserved(2)] }));
    expect(brokenRules({ ...problem, instanceTypes: more }, plan)).toEqual([]);
  });

  it('of an offering hold by themselves', () => {
    const offerings = (slots: number) => onDemand(1, 'a').map((offering) => ({ ...offering, slots }));
    expect(brokenRules(aProblem({ pods, instanceTypes: [aType({ offerings: offerings(1) })] }), two)).toEqual([
      'slots',
    ]);
    expect(brokenRules(aProblem({ pods, instanceTypes: [aType({ offerings: offerings(2) })] }), two)).toEqual([]);
  });

  it('of minValues hold over the offerings that a node keeps', () => {
    const types = ['c5', 'm5', 'r5'].map((family) => aType({ name: family, labels: { family } }));
    const requirements = [{ ...oneOf('family', 'c5', 'm5', 'r5'), minValues: 2 }];
    const problem = aProblem({ instanceTypes: types, pools: [aPool({ requirements })] });
    expect(brokenRules(problem, buy('c5/a/on-demand', 'c5/b/on-demand'))).toEqual(['min-values']);
    expect(brokenRules(problem, buy('c5/a/on-demand', 'm5/a/on-demand'))).toEqual([]);
  });
});

describe('alternative offerings', () => {
  it('could each take the place of the first', () => {
    const types = [aType(), aType({ name: 'tiny', capacity: { cpu: 500, memory: 1, pods: 10 } })];
    const problem = aProblem({ instanceTypes: types });
    expect(brokenRules(problem, buy('medium/a/on-demand', 'medium/b/on-demand'))).toEqual([]);
    expect(brokenRules(problem, buy('medium/a/on-demand', 'tiny/b/on-demand'))).toEqual(['alternatives']);
  });

  it('are listed once', () => {
    expect(brokenRules(aProblem(), buy('medium/a/on-demand', 'medium/a/on-demand'))).toEqual(['alternatives']);
  });

  it('stay in the zone in which their pods were counted', () => {
    const labels = { app: 'web' };
    const podAntiAffinity = [{ topologyKey: ZONE, selector: { matchLabels: labels } }];
    const problem = aProblem({ pods: [aPod({ labels, podAntiAffinity })] });
    expect(brokenRules(problem, buy('medium/a/on-demand', 'medium/b/on-demand'))).toEqual(['alternatives']);
    expect(brokenRules(problem, buy('medium/a/on-demand'))).toEqual([]);
  });
});

describe('what a plan says about itself', () => {
  it('is the right price', () => {
    expect(brokenRules(aProblem(), { ...buy('medium/a/on-demand'), price: 0.9, lowerBound: 0 })).toContain('price');
    expect(brokenRules(aProblem(), { newNodes: [{ pods: [0], price: 0.9 }] })).toContain('price');
  });

  it('is a bound below the price, and the gap between them', () => {
    const plan = buy('medium/a/on-demand');
    expect(brokenRules(aProblem(), { ...plan, lowerBound: 0.75, gap: 0.25 })).toEqual([]);
    expect(brokenRules(aProblem(), { ...plan, lowerBound: 1.01, gap: -0.01 })).toEqual(['lower-bound']);
    expect(brokenRules(aProblem(), { ...plan, lowerBound: 0.75, gap: 0.2 })).toEqual(['lower-bound']);
    expect(brokenRules(aProblem(), { ...plan, lowerBound: Number.NaN })).toContain('lower-bound');
  });

  it('is the sum of the requests of each node', () => {
    expect(brokenRules(aProblem(), { newNodes: [{ pods: [0], requests: { cpu: 1000 } }] })).toEqual(['requests']);
  });
});
