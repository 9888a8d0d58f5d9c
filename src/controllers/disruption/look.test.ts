import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { finish } from '../../engine/packing/work.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aNode, aNodeClaim, aPod, T0 } from '../testkit/objects.ts';
import type { Candidate } from './candidate.ts';
import { Look } from './look.ts';

const state: StateNode = { name: 'old', node: aNode({ name: 'old' }), claim: aNodeClaim({ name: 'old' }) };

/** A look at one node, whose pods are as told. */
function aLook(podsOn: () => Pod[]): Look {
  const list = () => [];
  const informers = { nodePools: { list }, daemonSets: { list }, namespaces: { list } };
  const cluster = { nodes: () => [state], podsOn, provisionable: list, informers } as unknown as ClusterState;
  return finish(
    Look.take({
      state: cluster,
      now: T0,
      markOf: () => undefined,
      isNominated: () => false,
      isStuck: () => false,
      kept: {
        nominations: { keptFor: () => [] },
        successors: { placesFor: () => new Map(), awaitedBy: () => false },
      },
      budgetsOf: () => [],
      readPools: async () => [],
      refuse: () => {},
      refusePool: () => {},
      newId: () => 'c',
      begun: () => 0,
    }),
  );
}

describe('what a problem is built from', () => {
  it('has the pods of candidates as these know them, and once, also where they have changed since', () => {
    const pod = aPod();
    const pods = [pod];
    const look = aLook(() => pods);
    const { node, claim } = state;
    const candidate: Candidate = { state, node: node!, claim: claim!, pool: {} as NodePool, pods: [pod] };
    pods[0] = { ...pod, metadata: { ...pod.metadata, resourceVersion: 'later' } };
    const { displaced, podsOn } = look.snapshot([], [candidate]);
    expect(displaced?.[0]).toBe(pod);
    expect(displaced).toHaveLength(1);
    expect(podsOn('old')).toEqual([pod]);
  });
});
