import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../../apis/karpenter/node-pool.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../../../apis/karpenter/node-pool-hash.ts';
import { aType } from '../../../cloud/simulated/testkit/small-account.ts';
import { aNodeClaim } from '../../testkit/objects.ts';
import { driftFromMarket, driftFromPool } from './decide-drift.ts';

const HASH = 'karpenter.sh/nodepool-hash';
const VERSION = 'karpenter.sh/nodepool-hash-version';

function aPool(requirements: object[] = [], labels: Record<string, string> = {}): NodePool {
  return {
    metadata: { name: 'general' },
    spec: { template: { metadata: { labels }, spec: { requirements } } },
  } as unknown as NodePool;
}

describe('a claim', () => {
  it('has drifted when the template of its pool has another hash, made in the same way', () => {
    const [before, after] = [aPool(), aPool([], { wave: 'second' })];
    const drift = (annotations: Record<string, string>) =>
      driftFromPool(aNodeClaim({ metadata: { annotations } }), after)?.reason;
    expect(drift({ [HASH]: nodePoolHash(after), [VERSION]: NODE_POOL_HASH_VERSION })).toBeUndefined();
    expect(drift({ [HASH]: nodePoolHash(before), [VERSION]: NODE_POOL_HASH_VERSION })).toBe('NodePoolDrifted');
    expect(drift({ [HASH]: nodePoolHash(before), [VERSION]: 'v2' })).toBeUndefined();
    expect(drift({})).toBeUndefined();
  });

  it('has drifted when its pool asks for labels that it does not have', () => {
    const claim = aNodeClaim({ metadata: { labels: { team: 'blue', size: '8' } } });
    const drift = (requirement: object) => driftFromPool(claim, aPool([requirement]))?.reason;
    expect(drift({ key: 'team', operator: 'In', values: ['blue', 'red'] })).toBeUndefined();
    expect(drift({ key: 'team', operator: 'In', values: ['red', 'green'] })).toBe('RequirementsDrifted');
    expect(drift({ key: 'size', operator: 'Gt', values: ['8'] })).toBe('RequirementsDrifted');
    expect(drift({ key: 'owner', operator: 'In', values: ['me'] })).toBe('RequirementsDrifted');
    expect(drift({ key: 'owner', operator: 'DoesNotExist' })).toBeUndefined();
  });

  it('has not drifted for want of a label whose value its pool leaves open, as a new one would not have it either', () => {
    const drift = (requirement: object) => driftFromPool(aNodeClaim(), aPool([requirement]));
    expect(drift({ key: 'owner', operator: 'In', values: ['me', 'you'] })).toBeUndefined();
    expect(drift({ key: 'owner', operator: 'Exists' })).toBeUndefined();
  });

  it('has drifted when its machine is not sold any more, but not when that cannot be had now', () => {
    const labels = (type: string, zone: string, capacityType: string) => ({
      'node.kubernetes.io/instance-type': type,
      'topology.kubernetes.io/zone': zone,
      'karpenter.sh/capacity-type': capacityType,
    });
    const small = aType('small', 2);
    const full = {
      ...small,
      offerings: small.offerings.map((offering) => ({ ...offering, healthy: false, slots: 0 })),
    };
    const drift = (...which: [string, string, string]) =>
      driftFromMarket(aNodeClaim({ metadata: { labels: labels(...which) } }), [full])?.reason;
    expect(drift('small', 'zone-a', 'spot')).toBeUndefined();
    expect(drift('small', 'zone-c', 'spot')).toBe('InstanceTypeNotFound');
    expect(drift('large', 'zone-a', 'spot')).toBe('InstanceTypeNotFound');
    // Its reservation may be gone: it goes on as on-demand.
    expect(drift('small', 'zone-a', 'reserved')).toBeUndefined();
  });
});
