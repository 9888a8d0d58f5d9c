import { describe, expect, it } from 'vitest';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aNode, aNodeClaim, aPod, T0 } from '../testkit/objects.ts';
import { isEvictionBlocked } from './eviction-blocked.ts';

const deletionTimestamp = toTimestamp(T0);
const protectedPod = aPod({ metadata: { name: 'a', annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } });
const ready = aPod({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } });

function deleted(claim: Parameters<typeof aNodeClaim>[0] = {}): StateNode {
  return {
    name: 'old',
    node: aNode({ name: 'old' }),
    claim: aNodeClaim({ ...claim, metadata: { name: 'old', deletionTimestamp, ...claim.metadata } }),
  };
}

function aBudget(status: PodDisruptionBudget['status'], generation = 1): PodDisruptionBudget {
  const metadata = { name: 'a', namespace: 'default', generation };
  const counted = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 0, expectedPods: 0 };
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: {},
    status: { observedGeneration: 1, ...counted, ...status },
  };
}

const held = (pod: Pod, node: StateNode, ...budgets: PodDisruptionBudget[]) =>
  isEvictionBlocked(pod, node, () => budgets, T0);

describe('a pod of a node that goes', () => {
  it('leaves it', () => {
    expect(held(ready, deleted())).toBe(false);
  });

  it('stays while it is not to be disrupted and nobody says until when the node is there', () => {
    expect(held(protectedPod, deleted())).toBe(true);
    expect(held(protectedPod, { name: 'old', node: aNode({ metadata: { name: 'old', deletionTimestamp } }) })).toBe(
      true,
    );
  });

  it('leaves a machine that its cloud takes away, and one with a deadline, whatever it says', () => {
    expect(held(protectedPod, deleted({ metadata: { annotations: { 'spindrift.dev/interruption': 'spot' } } }))).toBe(
      false,
    );
    expect(held(protectedPod, deleted({ spec: { terminationGracePeriod: '1h' } }))).toBe(false);
  });

  it('leaves a machine that goes by a plan which moves it', () => {
    const { deletionTimestamp: _, ...metadata } = deleted().claim!.metadata;
    const annotations = { 'spindrift.dev/disruption': '{}' };
    const planned = { ...deleted(), claim: aNodeClaim({ metadata: { ...metadata, annotations } }) };
    expect(held(protectedPod, planned)).toBe(false);
  });

  it('stays where its budget lets nobody go however many are healthy', () => {
    expect(held(ready, deleted(), aBudget({ desiredHealthy: 2, expectedPods: 2 }))).toBe(true);
  });

  it('leaves where its budget only waits for others, is of an older specification, or need not be asked', () => {
    const waiting = aBudget({ desiredHealthy: 1, expectedPods: 2 });
    const old = aBudget({ desiredHealthy: 2, expectedPods: 2 }, 2);
    expect(held(ready, deleted(), waiting)).toBe(false);
    expect(held(ready, deleted(), old)).toBe(false);
    expect(
      held(aPod({ status: { phase: 'Running' } }), deleted(), aBudget({ desiredHealthy: 2, expectedPods: 2 })),
    ).toBe(false);
  });
});
