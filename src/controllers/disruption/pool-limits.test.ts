import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { aType } from '../../cloud/simulated/testkit/small-account.ts';
import { aNode, aNodeClaim } from '../testkit/objects.ts';
import type { PlannedNode } from './commands/command.ts';
import { PoolLimits } from './pool-limits.ts';

const pool = { metadata: { name: 'general' }, spec: { limits: { cpu: '8' } } } as unknown as NodePool;
const pools = [{ pool, instanceTypes: [aType('small', 2), aType('large', 8)] }];
const claim = aNodeClaim({
  metadata: { labels: { 'karpenter.sh/nodepool': 'general' } },
  status: { capacity: { cpu: '4' } },
});
const nodes = [{ name: 'node', node: aNode(), claim }];

function planned(instanceType: string, name = 'general'): PlannedNode {
  const offering = { instanceType, zone: 'zone-a', capacityType: 'spot', price: 1 } as const;
  const node = { pool: name, requirements: [], offerings: [offering], price: 1, pods: [], requests: {} };
  return { node, pool, cloudName: (type) => type, pods: [] };
}

describe('the limits of a pool', () => {
  it('are kept over what it has and what was taken since', () => {
    const limits = new PoolLimits(pools, nodes);
    expect(limits.take([planned('small')])).toBeUndefined();
    expect(limits.take([planned('small'), planned('small')])).toBe('general');
    expect(limits.take([planned('small')])).toBeUndefined();
    expect(limits.take([planned('small')])).toBe('general');
  });

  it('say nothing of pools without any', () => {
    expect(new PoolLimits([], nodes).take([planned('large', 'other')])).toBeUndefined();
  });
});
