import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { ANNOTATION_DISRUPTION } from '../../apis/spindrift/annotations.ts';
import { finish, type Slices } from '../../engine/packing/work.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import { isGoing, type StateNode } from '../../state/state-node.ts';
import { aCondition, aNode, aNodeClaim, aPod, T0 } from '../testkit/objects.ts';
import type { Candidate } from './candidate.ts';
import { Look } from './look.ts';

const state: StateNode = { name: 'old', node: aNode({ name: 'old' }), claim: aNodeClaim({ name: 'old' }) };

/** Begins a look at one node, whose pods are as told, and whose claim is so when it is asked for. */
function lookAt(
  podsOn: () => Pod[],
  claimNow: () => NodeClaim = () => state.claim!,
  newest: (claim: NodeClaim) => NodeClaim = (claim) => claim,
): Slices<Look> {
  const list = () => [];
  const nodeClaims = { get: claimNow };
  const informers = { nodePools: { list }, namespaces: { list }, nodeClaims };
  const cluster = {
    nodes: () => [state],
    podsOn,
    provisionable: list,
    daemonSets: list,
    informers,
  } as unknown as ClusterState;
  return Look.take({
    state: cluster,
    now: T0,
    newest,
    markOf: ({ metadata }) => metadata.annotations?.[ANNOTATION_DISRUPTION],
    isNominated: () => false,
    isStuck: () => false,
    kept: {
      nominations: { keptFor: () => [] },
      successors: { placesFor: () => new Map(), awaitedBy: () => false },
    },
    budgetsOf: () => [],
    readPools: async () => ({ forPods: [], withReplicas: [] }),
    refuse: () => {},
    refusePool: () => {},
    newId: () => 'c',
    begun: () => 0,
  });
}

describe('a look', () => {
  it('sees that a node goes which a command took before it began, also where that was written since', () => {
    let cached = state.claim!;
    const slices = lookAt(
      () => [],
      () => cached,
    );
    slices.next();
    cached = aNodeClaim({ name: 'old', metadata: { annotations: { [ANNOTATION_DISRUPTION]: 'id=a reason=Empty' } } });
    expect(finish(slices).nodes.map(isGoing)).toEqual([true]);
  });

  it('shows what was written on claims and is not in the cache yet, such as a reboot', () => {
    const written = aNodeClaim({ name: 'old', status: { conditions: [aCondition('Rebooting')] } });
    const look = finish(
      lookAt(
        () => [],
        () => state.claim!,
        () => written,
      ),
    );
    expect(look.node('old')?.claim).toBe(written);
    expect(look.nodeOf('old')?.claim).toBe(written);
  });
});

describe('what a problem is built from', () => {
  it('has the pods of candidates as these know them, and once, also where they have changed since', () => {
    const pod = aPod();
    const pods = [pod];
    const look = finish(lookAt(() => pods));
    const { node, claim } = state;
    const candidate: Candidate = { state, node: node!, claim: claim!, pool: {} as NodePool, pods: [pod] };
    pods[0] = { ...pod, metadata: { ...pod.metadata, resourceVersion: 'later' } };
    const { displaced, podsOn } = look.snapshot([], [candidate]);
    expect(displaced?.[0]).toBe(pod);
    expect(displaced).toHaveLength(1);
    expect(podsOn('old')).toEqual([pod]);
  });
});
