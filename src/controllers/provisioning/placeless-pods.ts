import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { ClusterSnapshot } from '../../state/build-problem.ts';
import { type ClusterState, isReschedulable } from '../../state/cluster-state.ts';
import type { Nominations } from '../../state/nominations.ts';
import { isGoing, isLeaving, type StateNode } from '../../state/state-node.ts';
import type { Successors } from '../../state/successors.ts';
import type { PredictedPlacements } from './predict-placements.ts';

/** Room that is reserved on nodes for pods that are not there yet. */
export interface KeptPlaces {
  readonly nominations: Pick<Nominations, 'keptFor'>;
  readonly successors: Pick<Successors, 'placesFor'>;
}

/** Whether the eviction of a pod from a node being removed is blocked (`eviction-blocked.ts`). */
export type IsEvictionBlocked = (pod: Pod, node: StateNode) => boolean;

/** Whether any pod is pending, or on a node being removed, reserved room or not. Cheap even for a large cluster. */
export function needsRound(
  state: Pick<ClusterState, 'nodes' | 'podsOn' | 'provisionable'>,
  isEvictionBlocked: IsEvictionBlocked,
): boolean {
  const displaces = (node: StateNode): boolean =>
    isDisplacing(node) && state.podsOn(node.name).some((pod) => isReschedulable(pod) && !isEvictionBlocked(pod, node));
  return state.nodes().some(displaces) || state.provisionable().length > 0;
}

/** Whether Spindrift must find other nodes for the pods of this node; another autoscaler does that for its own nodes. */
function isDisplacing(node: StateNode): boolean {
  return isGoing(node) && node.foreign !== true;
}

/**
 * Pods to plan for: pending pods and pods of nodes being removed, except those with reserved room on a starting node, and those with a
 * predicted placement. These count on the nodes where they will run. All of it is read in one moment.
 */
export function placelessPods(
  state: Pick<ClusterState, 'podsOn' | 'provisionable'>,
  nodes: readonly StateNode[],
  { nominations, successors }: KeptPlaces,
  isEvictionBlocked: IsEvictionBlocked,
  predicted: PredictedPlacements = new Map(),
): Required<Pick<ClusterSnapshot, 'pending' | 'displaced' | 'podsOn'>> {
  const podsOn = new Map(nodes.map(({ name }) => [name, state.podsOn(name)]));
  const displacedFrom = (node: StateNode): readonly Pod[] =>
    (podsOn.get(node.name) ?? []).filter((pod) => isReschedulable(pod) && !isEvictionBlocked(pod, node));
  const displaced = nodes.flatMap((node) => (isDisplacing(node) ? displacedFrom(node) : []));
  const predictedOn = Map.groupBy(displaced, ({ metadata }) => predicted.get(metadata.uid ?? ''));
  const succeeded = successors.placesFor(predictedOn.get(undefined) ?? []);
  const kept = new Map<string, readonly Pod[]>();
  for (const node of nodes) {
    if (isLeaving(node)) continue;
    const here = predictedOn.get(node.name) ?? [];
    if (node.claim === undefined) kept.set(node.name, here);
    else {
      const after = succeeded.get(node.claim.metadata.name ?? '') ?? [];
      kept.set(node.name, [...nominations.keptFor(node.claim), ...after, ...here]);
    }
  }
  const placed = new Set([...kept.values()].flat());
  const isPlaceless = (pod: Pod): boolean => !placed.has(pod);
  return {
    pending: state.provisionable().filter(isPlaceless),
    displaced: displaced.filter(isPlaceless),
    podsOn: (node) => [...(podsOn.get(node) ?? []).filter(isPlaceless), ...(kept.get(node) ?? [])],
  };
}
