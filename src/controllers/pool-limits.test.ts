import { describe, expect, it } from 'vitest';
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import { aType } from '../cloud/simulated/testkit/small-account.ts';
import { ComingNodes } from '../state/coming-nodes.ts';
import type { PlannedNode } from './disruption/commands/command.ts';
import { PoolLimits } from './pool-limits.ts';
import { aNode, aNodeClaim } from './testkit/objects.ts';

const pool = { metadata: { name: 'general' }, spec: { limits: { cpu: '8' } } } as unknown as NodePool;
const pools = [{ pool, instanceTypes: [aType('small', 2), aType('large', 8)] }];
const claim = aNodeClaim({
  metadata: { labels: { 'karpenter.sh/nodepool': 'general' } },
  status: { capacity: { cpu: '4' } },
});
const nodes = [{ name: 'node', node: aNode(), claim }];

function planned(instanceType: string, name = 'general'): Omit<PlannedNode, 'pods'> {
  const offering = { instanceType, zone: 'zone-a', capacityType: 'spot', price: 1 } as const;
  const node = { pool: name, requirements: [], offerings: [offering], price: 1, pods: [], requests: {} };
  return { node, pool, cloudName: (type) => type };
}

describe('the limits of a pool', () => {
  it('are kept over what it has and what was taken since', () => {
    const limits = new PoolLimits({ pools, nodes, coming: new ComingNodes() });
    expect(limits.take([planned('small')])).toBeUndefined();
    expect(limits.take([planned('small'), planned('small')])).toBe('general');
    expect(limits.take([planned('small')])).toBeUndefined();
    expect(limits.take([planned('small')])).toBe('general');
  });

  it('say nothing of pools without any', () => {
    const none = new PoolLimits({ pools: [], nodes, coming: new ComingNodes() });
    expect(none.take([planned('large', 'other')])).toBeUndefined();
  });

  it('are kept by all who write claims, until what they write is there', () => {
    const coming = new ComingNodes();
    const first = planned('small');
    expect(new PoolLimits({ pools, nodes, coming }).take([first, planned('small')])).toBeUndefined();
    expect(new PoolLimits({ pools, nodes, coming }).take([planned('small')])).toBe('general');
    coming.settled(first.node);
    expect(new PoolLimits({ pools, nodes, coming }).take([planned('small')])).toBeUndefined();
  });

  it('do not count what is lost', () => {
    const limits = new PoolLimits({ pools, nodes, coming: new ComingNodes(), isLost: (lost) => lost === claim });
    expect(limits.take([planned('large')])).toBeUndefined();
  });

  it('that are exceeded already refuse only what takes more of the same', () => {
    const spec = { limits: { cpu: '8', 'nvidia.com/gpu': '0' } };
    const tight = [{ ...pools[0]!, pool: { ...pool, spec } as unknown as NodePool }];
    const [gpu] = [aNodeClaim({ ...claim, status: { capacity: { 'nvidia.com/gpu': '1' } } })];
    const limits = new PoolLimits({ pools: tight, nodes: [{ ...nodes[0]!, claim: gpu! }], coming: new ComingNodes() });
    expect(limits.take([planned('small')])).toBeUndefined();
  });
});
