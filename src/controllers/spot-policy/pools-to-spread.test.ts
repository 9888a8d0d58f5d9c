import { describe, expect, it } from 'vitest';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import type { NewNode, RankedOffering } from '../../engine/solution.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aNode, aNodeClaim } from '../testkit/objects.ts';
import { countFleet } from './count-fleet.ts';
import { poolsToSpread } from './pools-to-spread.ts';
import { DEFAULT_SPOT_SETTINGS } from './spot-settings.ts';

const labels = (pool: string, capacityType: string, zone = 'a') => ({
  'karpenter.sh/nodepool': pool,
  'karpenter.sh/capacity-type': capacityType,
  'node.kubernetes.io/instance-type': 'small',
  'topology.kubernetes.io/zone': zone,
});

function node(name: string, pool: string, capacityType: string, zone = 'a'): StateNode {
  return { name, node: aNode({ name, metadata: { labels: labels(pool, capacityType, zone) } }) };
}

const PLANNED: StateNode = {
  name: 'nodeclaim/planned',
  claim: aNodeClaim({
    metadata: {
      labels: { 'karpenter.sh/nodepool': 'web' },
      annotations: { 'spindrift.dev/offerings': 'large/b/spot/2 large/b/on-demand/4' },
    },
  }),
};

describe('the fleet, counted', () => {
  it('has the nodes of each pool by how they are paid for, and those to come as what they are planned as', () => {
    const nodes = [
      node('1', 'web', 'spot'),
      node('2', 'web', 'spot', 'b'),
      node('3', 'web', 'on-demand'),
      node('4', 'web', 'reserved'),
      node('5', 'batch', 'spot'),
      { name: '6', node: aNode({ name: '6' }) },
      PLANNED,
    ];
    const counts = countFleet(nodes);
    expect(counts.get('web')).toEqual({
      nodes: 5,
      onDemand: 2,
      reserved: 1,
      spot: new Map([
        ['small/a', 1],
        ['small/b', 1],
        ['large/b', 1],
      ]),
    });
    expect([...counts.keys()]).toEqual(['web', 'batch']);
  });
});

describe('what a spread is told of a pool', () => {
  const offering = (instanceType: string): RankedOffering => ({
    instanceType,
    zone: 'a',
    capacityType: 'on-demand',
    price: 1,
  });
  const planned: NewNode = {
    pool: 'web',
    requirements: [],
    offerings: [offering('medium')],
    price: 1,
    pods: [],
    requests: {},
  };
  const told = (limits?: Record<string, string>) => {
    const pool = aNodePool({ name: 'web', ...(limits && { spec: { limits } }) });
    const limited = { ...DEFAULT_SPOT_SETTINGS, limits: { ...DEFAULT_SPOT_SETTINGS.limits, onDemandBase: 3 } };
    return poolsToSpread({
      policies: { for: (name) => (name === 'web' ? limited : DEFAULT_SPOT_SETTINGS) },
      pools: [pool],
      nodes: [node('1', 'web', 'spot')],
      instanceTypes: [
        { name: 'medium', capacity: { cpu: 4000, memory: 8 }, offerings: [] },
        { name: 'lean', capacity: { cpu: 4000, memory: 4 }, offerings: [] },
        { name: 'fat', capacity: { cpu: 4000, memory: 16 }, offerings: [] },
      ],
    }).get('web');
  };

  it('is the limits of its policy and the nodes it has', () => {
    expect(told()).toMatchObject({ limits: { onDemandBase: 3 }, counts: { nodes: 1, onDemand: 0 } });
    expect(told()?.allows).toBeUndefined();
  });

  it('is nothing where its policy limits nothing', () => {
    const policies = { for: () => DEFAULT_SPOT_SETTINGS };
    expect(poolsToSpread({ policies, pools: [aNodePool()], nodes: [], instanceTypes: [] }).size).toBe(0);
  });

  it('forbids machines that have more than the planned one of what the pool limits', () => {
    const allowed = (limits: Record<string, string>): boolean[] =>
      ['lean', 'fat', 'medium'].map((type) => told(limits)?.allows?.(planned, offering(type)) ?? true);
    expect(allowed({ memory: '100Gi' })).toEqual([true, false, true]);
    expect(allowed({ cpu: '100', nodes: '5' })).toEqual([true, true, true]);
  });
});
