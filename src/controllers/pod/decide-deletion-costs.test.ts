import { describe, expect, it } from 'vitest';
import { aNodePool, type NodePoolParts } from '../../apis/karpenter/testkit/a-node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aPodAsking, aStateNode } from '../../state/testkit/a-state-node.ts';
import { decideDeletionCosts, LEAVING_COST } from './decide-deletion-costs.ts';

function aPodOf(kind: string, name: string, metadata: Partial<Pod['metadata']> = {}): Pod {
  const pod = aPodAsking(name, { cpu: '100m' });
  const ownerReferences = [{ apiVersion: 'apps/v1', kind, name: 'owner', uid: 'owner', controller: true }];
  return { ...pod, metadata: { ...pod.metadata, ownerReferences, ...metadata } };
}

const replica = (name: string, metadata: Partial<Pod['metadata']> = {}) => aPodOf('ReplicaSet', name, metadata);

/** The costs by the name of the pod; nodes are called a, b, c. */
function costs(
  pods: Record<string, readonly Pod[]>,
  { pool = {}, allowed = 10, nodes = Object.keys(pods).map((name): StateNode => aStateNode({ name })) } = {} as {
    pool?: NodePoolParts;
    allowed?: number;
    nodes?: readonly StateNode[];
  },
): Record<string, number | undefined> {
  const found = decideDeletionCosts({
    ...{ now: 0 as EpochMs, nodes, podsOn: (node) => pods[node] ?? [] },
    ...{ poolNamed: new Map([['general', aNodePool(pool)]]), priceOf: () => 1, allowed: () => allowed },
  });
  return Object.fromEntries([...found].map(([{ metadata }, cost]) => [metadata.name, cost]));
}

describe('deletion costs', () => {
  it('are lowest on nodes that save most for each pod that would have to leave', () => {
    expect(costs({ a: [replica('a1'), replica('a2')], b: [replica('b1')], c: [] })).toEqual({ a1: -1, a2: -1, b1: -2 });
  });

  it('are the lowest there are on nodes that go', () => {
    const going = aStateNode({ name: 'a', node: { unschedulable: true } });
    const nodes = [going, aStateNode({ name: 'b' })];
    expect(costs({ a: [replica('a1')], b: [replica('b1')] }, { nodes })).toEqual({ a1: LEAVING_COST, b1: -1 });
  });

  it('are there for as many nodes as budgets let go', () => {
    expect(costs({ a: [replica('a1'), replica('a2')], b: [replica('b1')] }, { allowed: 1 })).toEqual({
      ...{ a1: undefined, a2: undefined, b1: -1 },
    });
  });

  it('are not there where the node stays anyway', () => {
    const stateful = aPodOf('StatefulSet', 'db');
    const busy = replica('busy', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    expect(costs({ a: [replica('a1'), stateful] })).toEqual({ a1: undefined });
    expect(costs({ a: [replica('a1'), busy] })).toEqual({ a1: undefined, busy: undefined });
    expect(costs({ a: [replica('a1')] }, { pool: { spec: { replicas: 1 } } })).toEqual({ a1: undefined });
    expect(costs({ a: [replica('a1')] }, { pool: { spec: { disruption: { consolidateAfter: 'Never' } } } })).toEqual({
      a1: undefined,
    });
  });
});
