import { describe, expect, it } from 'vitest';
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import { aType } from '../cloud/simulated/testkit/small-account.ts';
import type { PlannedNode } from './disruption/commands/command.ts';
import { PoolLimits } from './pool-limits.ts';
import { aNode, aNodeClaim } from './testkit/objects.ts';

const pool = { metadata: { name: 'general' }, spec: { limits: { cpu: '8' } } } as unknown as NodePool;
const types = [aType('small', 2), aType('large', 8)];
const pools = [{ pool, instanceTypes: types }];
const claim = aNodeClaim({
  metadata: { labels: { 'karpenter.sh/nodepool': 'general' } },
  status: { capacity: { cpu: '4' } },
});
const nodes = [{ name: 'node', node: aNode(), claim }];

function planned(...instanceTypes: string[]): PlannedNode {
  const offerings = instanceTypes.map(
    (instanceType) => ({ instanceType, zone: 'zone-a', capacityType: 'spot', price: 1 }) as const,
  );
  const node = { pool: 'general', requirements: [], offerings, price: 1, pods: [], requests: {} };
  return { node, pool, cloudName: (type) => type };
}

describe('the limits of a pool', () => {
  it('are kept over what it has and what was taken since', () => {
    const limits = new PoolLimits(pools, nodes);
    expect(limits.take([planned('small')])).toBeUndefined();
    expect(limits.take([planned('small'), planned('small')])).toBe('general');
    expect(limits.take([planned('small')])).toBeUndefined();
    expect(limits.take([planned('small')])).toBe('general');
  });

  it('leave a node those of its alternatives that there is room for, even if all fall back on them', () => {
    const limits = new PoolLimits([{ pool, instanceTypes: [...types, aType('medium', 4)] }], []);
    const nodes = [planned('small', 'medium', 'large'), planned('small', 'large', 'medium', 'small')];
    for (const node of nodes) limits.take([node]);
    const left = nodes.map((node) => limits.narrowed(node).offerings.map(({ instanceType }) => instanceType));
    expect(left).toEqual([
      ['small', 'medium'],
      ['small', 'medium', 'small'],
    ]);
    const third = planned('small', 'medium');
    limits.take([third]);
    expect(limits.narrowed(third).offerings).toHaveLength(1);
  });

  it('count a claim that is not launched yet as the largest that it may become', () => {
    const annotations = { 'spindrift.dev/offerings': 'small/zone-a/spot/1 large/zone-a/spot/2' };
    const labels = { 'karpenter.sh/nodepool': 'general' };
    const waiting = { name: 'nodeclaim/a', claim: aNodeClaim({ metadata: { labels, annotations } }) };
    expect(new PoolLimits(pools, [waiting]).take([planned('small')])).toBe('general');
  });

  it('say nothing of pools without any', () => {
    expect(new PoolLimits([], nodes).take([planned('large')])).toBeUndefined();
  });
});
