import { describe, expect, it } from 'vitest';
import type { PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import { aCondition, aPod, later, T0 } from '../testkit/objects.ts';
import { podBlocker } from './pod-blocker.ts';

const READY = { status: { phase: 'Running', conditions: [aCondition('Ready')] } } as const;

function aBudget(name: string, status: PodDisruptionBudget['status'], policy?: 'AlwaysAllow'): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'default', generation: 1 },
    spec: policy === undefined ? {} : { unhealthyPodEvictionPolicy: policy },
    status: { observedGeneration: 1, ...status },
  };
}

const OPEN = aBudget('open', { disruptionsAllowed: 1 });
const SHUT = aBudget('shut', { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2 });

describe('a pod', () => {
  it('keeps its node as long as it says that it is not to be disrupted', () => {
    const said = (value: string) => aPod({ metadata: { annotations: { 'karpenter.sh/do-not-disrupt': value } } });
    expect(podBlocker(said('true'), [], T0)).toContain('do-not-disrupt');
    expect(podBlocker(said('10m'), [], later(599_000))).toContain('do-not-disrupt');
    expect(podBlocker(said('10m'), [], later(600_000))).toBeUndefined();
    expect(podBlocker(said('perhaps'), [], T0)).toBeUndefined();
  });

  it('keeps its node while its budget lets nobody go, and says which', () => {
    expect(podBlocker(aPod(READY), [OPEN], T0)).toBeUndefined();
    expect(podBlocker(aPod(READY), [SHUT], T0)).toContain('default/shut');
    const stale = { ...OPEN, metadata: { ...OPEN.metadata, generation: 2 } };
    expect(podBlocker(aPod(READY), [stale], T0)).toContain('default/open');
  });

  it('of two budgets can never be evicted', () => {
    expect(podBlocker(aPod(READY), [OPEN, aBudget('also', { disruptionsAllowed: 5 })], T0)).toContain('several');
  });

  it('that is not ready goes where its budget says so', () => {
    expect(podBlocker(aPod(), [aBudget('lax', { disruptionsAllowed: 0 }, 'AlwaysAllow')], T0)).toBeUndefined();
    expect(podBlocker(aPod(), [SHUT], T0)).toContain('default/shut');
    const enough = aBudget('enough', { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 });
    expect(podBlocker(aPod(), [enough], T0)).toBeUndefined();
    expect(podBlocker(aPod({ status: { phase: 'Pending' } }), [SHUT], T0)).toBeUndefined();
  });

  it('that nobody would evict keeps no node', () => {
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
    const spec = { tolerations: [{ operator: 'Exists' }] } as const;
    expect(podBlocker(aPod({ metadata: { annotations }, spec }), [SHUT], T0)).toBeUndefined();
    expect(podBlocker(aPod({ metadata: { annotations }, status: { phase: 'Failed' } }), [SHUT], T0)).toBeUndefined();
  });
});
