import { describe, expect, it } from 'vitest';
import type { Problem } from '../problem.ts';
import { brokenRules } from '../testkit/broken-rules.ts';
import { aPod, aPool, aProblem, aType, HOSTNAME, onDemand, oneOf, ZONE } from '../testkit/builders.ts';

describe('a pod without a place', () => {
  const unplaced = { unplaced: [{ group: 0, pods: [0] }] };

  it('is a violation when a fresh node could be bought for it', () => {
    expect(brokenRules(aProblem(), unplaced)).toEqual(['unplaced-without-cause']);
  });

  it.each([
    ['no type is large enough', { pods: [aPod({ requests: { cpu: 4001 } })] }],
    [
      'daemons leave too little',
      { pods: [aPod({ requests: { cpu: 4000 } })], daemons: [{ name: 'd', requests: { cpu: 1 } }] },
    ],
    ['no zone will do', { pods: [aPod({ requirements: [[oneOf(ZONE, 'z')]] })] }],
    [
      'volumes and affinity disagree',
      { pods: [aPod({ requirements: [[oneOf(ZONE, 'a')]], volumeRequirements: [[oneOf(ZONE, 'b')]] })] },
    ],
    ['the pool is tainted', { pools: [aPool({ taints: [{ key: 'k', effect: 'NoSchedule' as const }] })] }],
    [
      'nothing is on offer',
      { instanceTypes: [aType({ offerings: onDemand(1, 'a').map((o) => ({ ...o, healthy: false })) })] },
    ],
    [
      'a daemon has its port',
      {
        pods: [aPod({ hostPorts: [{ port: 80 }] })],
        daemons: [{ name: 'd', requests: {}, hostPorts: [{ port: 80 }] }],
      },
    ],
    [
      'it has more volumes than can be attached',
      { pods: [aPod({ volumeAttachments: { ebs: 2 } })], instanceTypes: [aType({ volumeAttachLimits: { ebs: 1 } })] },
    ],
  ] as readonly [string, Partial<Problem>][])('has a cause when %s', (_, overrides) => {
    expect(brokenRules(aProblem(overrides), unplaced)).toEqual([]);
  });

  it.each([
    ['limits', { pools: [aPool({ limits: { cpu: 1 } })] }],
    ['slots', { instanceTypes: [aType({ offerings: onDemand(1, 'a').map((o) => ({ ...o, slots: 0 })) })] }],
    ['its own affinity', { pods: [aPod({ podAffinity: [{ topologyKey: ZONE, selector: {} }] })] }],
    ['an anti-affinity', { pods: [aPod({ podAntiAffinity: [{ topologyKey: HOSTNAME, selector: {} }] })] }],
  ] as readonly [string, Partial<Problem>][])('is not judged where %s may be the cause', (_, overrides) => {
    expect(brokenRules(aProblem(overrides), unplaced)).toEqual([]);
  });
});

describe('the weight of pools', () => {
  const light = aPool();
  const plan = { newNodes: [{ pods: [0] }] };

  it('comes before their price', () => {
    expect(brokenRules(aProblem({ pools: [light, aPool({ name: 'heavy', weight: 10 })] }), plan)).toEqual([
      'pool-weight',
    ]);
  });

  it('does not matter when the heavier pool cannot take the pod', () => {
    const heavy = aPool({ name: 'heavy', weight: 10, requirements: [oneOf(ZONE, 'z')] });
    expect(brokenRules(aProblem({ pools: [light, heavy] }), plan)).toEqual([]);
  });
});

describe('the weight of pools, where nodes are shared', () => {
  it('is kept when a pod joins a node that another one needs', () => {
    const tolerations = [{ operator: 'Exists' as const }];
    const needs = aPod({ requirements: [[oneOf(ZONE, 'a')]] });
    const heavy = aPool({ name: 'heavy', weight: 10, requirements: [oneOf(ZONE, 'b')] });
    const problem = aProblem({ pods: [needs, aPod({ tolerations })], pools: [aPool(), heavy] });
    expect(brokenRules(problem, { newNodes: [{ pods: [0, 1] }] })).toEqual([]);
    expect(brokenRules(problem, { newNodes: [{ pods: [0] }, { pods: [1] }] })).toEqual(['pool-weight']);
  });
});

describe('the weight of pools, where wishes are concerned', () => {
  const plan = { newNodes: [{ pods: [0] }] };

  it('gives way to them', () => {
    const heavy = aPool({ name: 'heavy', weight: 10 });
    const wishing = aPod({ preferredNodeAffinity: [{ weight: 1, term: [oneOf(ZONE, 'a')] }] });
    expect(brokenRules(aProblem({ pods: [wishing], pools: [aPool(), heavy] }), plan)).toEqual([]);
    const shunned = { ...heavy, taints: [{ key: 'k', effect: 'PreferNoSchedule' as const }] };
    expect(brokenRules(aProblem({ pools: [aPool(), shunned] }), plan)).toEqual([]);
  });
});

describe('priority', () => {
  const pools = [aPool({ limits: { nodes: 1 } })];
  const urgent = (overrides: Partial<Problem['pods'][0]> = {}) => aPod({ priority: 10, ...overrides });
  const judge = (waiting: Problem['pods'][0], placed = aPod()) =>
    brokenRules(aProblem({ pods: [waiting, placed], pools }), {
      newNodes: [{ pods: [1] }],
      unplaced: [{ group: 0, pods: [0] }],
    });

  it('decides who gets the place that only one can have', () => {
    expect(judge(urgent())).toEqual(['priority']);
    expect(judge(aPod())).toEqual([]);
    expect(judge(urgent(), urgent())).toEqual([]);
  });

  it('does not matter where the pod could not be', () => {
    expect(judge(urgent({ requests: { cpu: 1001 } }))).toEqual([]);
    expect(judge(urgent({ requirements: [[oneOf(ZONE, 'b')]] }))).toEqual([]);
    expect(judge(urgent({ volumeRequirements: [[oneOf(ZONE, 'b')]] }))).toEqual([]);
  });
});

describe('ordered alternatives', () => {
  const pod = aPod({ ordered: true, requirements: [[oneOf(ZONE, 'b')], [oneOf(ZONE, 'a')]] });

  it('are taken in their order', () => {
    const problem = aProblem({ pods: [pod] });
    expect(brokenRules(problem, { newNodes: [{ pods: [0], buy: ['medium/a/on-demand'] }] })).toEqual([
      'ordered-alternatives',
    ]);
    expect(brokenRules(problem, { newNodes: [{ pods: [0], buy: ['medium/b/on-demand'] }] })).toEqual([]);
  });

  it('leave a later one when the earlier cannot be had', () => {
    const problem = aProblem({ pods: [pod], instanceTypes: [aType({ offerings: onDemand(1, 'a') })] });
    expect(brokenRules(problem, { newNodes: [{ pods: [0] }] })).toEqual([]);
  });
});
