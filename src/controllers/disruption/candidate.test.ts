import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aCondition, aNode, aNodeClaim, aPod, T0 } from '../testkit/objects.ts';
import { type CandidateContext, candidateOf } from './candidate.ts';

const pool = { metadata: { name: 'general' }, spec: {} } as unknown as NodePool;
const context: CandidateContext = {
  poolNamed: new Map([['general', pool]]),
  podsOn: () => [aPod()],
  isNominated: () => false,
  isStuck: () => false,
  podBlocker: () => undefined,
};

function aStateNode(parts: Parameters<typeof aNodeClaim>[0] = {}, node = aNode()): StateNode {
  const labels = { 'karpenter.sh/nodepool': 'general' };
  const status = { conditions: [aCondition('Initialized')] };
  const claim = aNodeClaim({ status, ...parts, metadata: { labels, ...parts.metadata } });
  return { name: 'node', node, claim };
}

const judge = (state: StateNode, changes: Partial<CandidateContext> = {}, kind: 'graceful' | 'eventual' = 'graceful') =>
  candidateOf(state, kind, { ...context, ...changes });

describe('a candidate', () => {
  it('is a node of ours that is up and stays, with the pods that will need another place', () => {
    const daemon = aPod({
      metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' }] },
    });
    const found = judge(aStateNode(), { podsOn: () => [aPod(), daemon] });
    expect(found).toMatchObject({ pool, pods: [{ metadata: { name: 'pod' } }] });
  });

  it('is not one that is not up, or goes already', () => {
    expect(judge(aStateNode({ status: { conditions: [] } }))).toBeUndefined();
    expect(judge(aStateNode({ metadata: { labels: {}, deletionTimestamp: toTimestamp(T0) } }))).toBeUndefined();
  });

  it('is refused with a reason where it is protected, expected by pods, without a pool, or could not be marked', () => {
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
    expect(judge(aStateNode({}, aNode({ metadata: { annotations } })))).toMatchObject({
      why: expect.stringContaining('do-not-disrupt'),
    });
    expect(judge(aStateNode(), { isNominated: () => true })).toHaveProperty('why');
    expect(judge(aStateNode(), { isStuck: () => true })).toMatchObject({ why: expect.stringContaining('marked') });
    expect(judge(aStateNode(), { poolNamed: new Map() })).toMatchObject({ why: expect.stringContaining('general') });
  });

  it('waits for pods that cannot be evicted, unless they have to leave by a time anyway', () => {
    const blocked = { podBlocker: () => 'no' };
    const bounded = aStateNode({ spec: { terminationGracePeriod: '5m' } });
    expect(judge(aStateNode(), blocked, 'eventual')).toMatchObject({ why: 'no' });
    expect(judge(bounded, blocked, 'graceful')).toMatchObject({ why: 'no' });
    expect(judge(bounded, blocked, 'eventual')).toHaveProperty('pods');
  });
});
