import { describe, expect, it } from 'vitest';
import { ANNOTATION_NODE_POOL_HASH, ANNOTATION_NODE_POOL_HASH_VERSION } from '../../apis/karpenter/labels.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import golden from '../../apis/karpenter/testkit/node-pool-hashes.json' with { type: 'json' };
import { driftFromPool } from '../nodeclaim/disruption/decide-drift.ts';
import { aCondition, aNodeClaim } from '../testkit/objects.ts';
import { decideHash } from './decide-hash.ts';

/** A template with everything in it, and the hash that Karpenter gives it. */
const { template, hash } = golden.vectors.at(-1) as (typeof golden.vectors)[number];

const pool = (labels = {}): NodePool => {
  const metadata = { ...template.metadata, labels: { ...template.metadata?.labels, ...labels } };
  return { metadata: { name: 'general' }, spec: { template: { ...template, metadata } } } as unknown as NodePool;
};
const stamped = (value: string, version: string): Record<string, string> => ({
  [ANNOTATION_NODE_POOL_HASH]: value,
  [ANNOTATION_NODE_POOL_HASH_VERSION]: version,
});

describe('hashes of claims', () => {
  it('that Karpenter wrote stay as they are, and have not drifted', () => {
    const claim = aNodeClaim({ name: 'a', metadata: { annotations: stamped(hash, golden.version) } });
    expect(decideHash(pool(), [claim])).toMatchObject({ claims: [], annotations: stamped(hash, golden.version) });
    expect(driftFromPool(claim, pool())).toBeUndefined();
  });

  it('that Karpenter wrote before the template was edited have drifted still', () => {
    const claim = aNodeClaim({ name: 'a', metadata: { annotations: stamped(hash, golden.version) } });
    expect(decideHash(pool({ team: 'other' }), [claim]).claims).toEqual([]);
    expect(driftFromPool(claim, pool({ team: 'other' }))).toMatchObject({ reason: 'NodePoolDrifted' });
  });

  it('of another version are made anew, but not where the claim has drifted already', () => {
    const old = stamped('1', 'spindrift-v1');
    const status = { conditions: [aCondition('Drifted')] };
    const claims = [
      aNodeClaim({ name: 'a', metadata: { annotations: old } }),
      aNodeClaim({ name: 'b', metadata: { annotations: old }, status }),
    ];
    expect(decideHash(pool(), claims).claims.map(({ annotations }) => annotations)).toEqual([
      stamped(hash, golden.version),
      { [ANNOTATION_NODE_POOL_HASH_VERSION]: golden.version },
    ]);
  });
});
