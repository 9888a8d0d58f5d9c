import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { ClusterSnapshot } from '../../state/build-problem.ts';
import { type ClusterState, isReschedulable } from '../../state/cluster-state.ts';
import type { Nominations } from '../../state/nominations.ts';
import { isGoing, isLeaving, type StateNode } from '../../state/state-node.ts';
import type { Successors } from '../../state/successors.ts';
import type { Landed } from './foresee-landings.ts';

/** What knows of places that are kept. */
export interface KeptPlaces {
  readonly nominations: Pick<Nominations, 'keptFor'>;
  readonly successors: Pick<Successors, 'placesFor'>;
}

/** Which pods stay on a node though it goes. */
export type IsHeld = (pod: Pod, node: StateNode) => boolean;

/** Whether any pod has no place, or will have none, be one kept for it or not: quick to tell, also of a large cluster. */
export function needsRound(state: Pick<ClusterState, 'nodes' | 'podsOn' | 'provisionable'>, isHeld: IsHeld): boolean {
  const displaces = (node: StateNode): boolean =>
    isDisplacing(node) && state.podsOn(node.name).some((pod) => isReschedulable(pod) && !isHeld(pod, node));
  return state.nodes().some(displaces) || state.provisionable().length > 0;
}

/** Whether the pods of a node need another place from us: those of another autoscaler's node are its to move. */
function isDisplacing(node: StateNode): boolean {
  return isGoing(node) && node.foreign !== true;
}

/**
 * Pods that have no place, or will have none, but for those that a place is kept for on a node on its way: planned anew, they would
 * seldom fit as well again; and but for those that are expected to find one. They count where they will be. All of it is of one moment.
 */
export function placelessPods(
  state: Pick<ClusterState, 'podsOn' | 'provisionable'>,
  nodes: readonly StateNode[],
  { nominations, successors }: KeptPlaces,
  isHeld: IsHeld,
  landed: Landed = new Map(),
): Required<Pick<ClusterSnapshot, 'pending' | 'displaced' | 'podsOn'>> {
  const podsOn = new Map(nodes.map(({ name }) => [name, state.podsOn(name)]));
  const displacedFrom = (node: StateNode): readonly Pod[] =>
    (podsOn.get(node.name) ?? []).filter((pod) => isReschedulable(pod) && !isHeld(pod, node));
  const displaced = nodes.flatMap((node) => (isDisplacing(node) ? displacedFrom(node) : []));
  const landedOn = Map.groupBy(displaced, ({ metadata }) => landed.get(metadata.uid ?? ''));
  const succeeded = successors.placesFor(landedOn.get(undefined) ?? []);
  const kept = new Map<string, readonly Pod[]>();
  for (const node of nodes) {
    if (isLeaving(node)) continue;
    const here = landedOn.get(node.name) ?? [];
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
