import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { NewNode } from '../../engine/solution.ts';
import { driftFromPool } from '../nodeclaim/disruption/decide-drift.ts';
import { claimForNode } from './claim-for-node.ts';

const NODE = { pool: 'general', pods: [], requirements: [], requests: {}, offerings: [] } as unknown as NewNode;

function aPool(labels: Record<string, string>, annotations: Record<string, string>): NodePool {
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  return {
    metadata: { name: 'general', annotations },
    spec: { template: { metadata: { labels }, spec: { requirements: [], nodeClassRef, expireAfter: 'Never' } } },
  } as unknown as NodePool;
}

describe('the claim for a node', () => {
  it('has not drifted from the template that it is made from, while its pool still carries the hash of the one before', () => {
    const before = claimForNode(NODE, aPool({ wave: 'first' }, {}), (name) => name);
    const pool = aPool({ wave: 'second' }, { ...before.metadata.annotations });
    expect(driftFromPool(before, pool)?.reason).toBe('NodePoolDrifted');
    expect(
      driftFromPool(
        claimForNode(NODE, pool, (name) => name),
        pool,
      ),
    ).toBeUndefined();
  });
});
