import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodePool } from './node-pool.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from './node-pool-hash.ts';
import { aNodePool, type NodePoolParts } from './testkit/a-node-pool.ts';
import golden from './testkit/node-pool-hashes.json' with { type: 'json' };

const TAINTS = [
  { key: 'a', value: 'x', effect: 'NoSchedule' },
  { key: 'b', effect: 'NoExecute' },
] as const;

const hash = (parts: NodePoolParts): string => nodePoolHash(aNodePool(parts));
const PLAIN = hash({});

describe('the hash of a pool', () => {
  it('has the version of Karpenter', () => {
    expect(NODE_POOL_HASH_VERSION).toBe(golden.version);
  });

  it.each(
    golden.vectors.map(({ template, hash }) => [JSON.stringify(template).slice(0, 200), template, hash] as const),
  )("is what Karpenter's own code makes of %s", (_, template, hash) => {
    expect(nodePoolHash({ spec: { template } } as unknown as NodePool)).toBe(hash);
  });

  it.each<[string, NodePoolParts]>([
    ['labels', { metadata: { labels: { team: 'a' } } }],
    ['annotations', { metadata: { annotations: { team: 'a' } } }],
    ['taints', { template: { taints: TAINTS } }],
    ['start-up taints', { template: { startupTaints: TAINTS } }],
    [
      'the node class',
      { template: { nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'b' } } },
    ],
    ['the grace period', { template: { terminationGracePeriod: '0s' } }],
    ['the expiry', { template: { expireAfter: 'Never' } }],
  ])('changes with %s', (_, parts) => {
    expect(hash(parts)).not.toBe(PLAIN);
  });

  it.each<[string, NodePoolParts]>([
    ['requirements', { template: { requirements: [{ key: 'a', operator: 'Exists' }] } }],
    [
      'limits, weight and disruption',
      { spec: { limits: { cpu: 1 }, weight: 3, disruption: { consolidateAfter: '1h' } } },
    ],
    ['the name', { name: 'other' }],
    ['empty metadata', { metadata: {} }],
    ['the way a duration is written', { template: { expireAfter: '719h60m' } }],
  ])('does not change with %s', (_, parts) => {
    expect(hash(parts)).toBe(PLAIN);
  });

  it('does not depend on the order of taints and labels', () => {
    expect(hash({ template: { taints: TAINTS.toReversed() } })).toBe(hash({ template: { taints: TAINTS } }));
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string({ minLength: 1 })), (labels) => {
        const reversed = Object.fromEntries(Object.entries(labels).reverse());
        expect(hash({ metadata: { labels } })).toBe(hash({ metadata: { labels: reversed } }));
      }),
    );
  });

  it('tells apart what differs only in where it stands', () => {
    expect(hash({ template: { taints: TAINTS } })).not.toBe(hash({ template: { startupTaints: TAINTS } }));
    expect(hash({ metadata: { labels: { a: 'b,"c":"d"' } } })).not.toBe(
      hash({ metadata: { labels: { a: 'b', c: 'd' } } }),
    );
  });
});
