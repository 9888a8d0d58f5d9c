/**
 * Places that a plan gave and that pods have not come to yet. They are kept from one plan to the next while they hold: a pod
 * that waits for its machine, or that still runs on a node that goes, is not placed anew each time something happens, which
 * would come out otherwise each time and launch machines for the difference.
 */
import type { Pod } from '../apis/kubernetes/pod.ts';
import { type ClusterSnapshot, requestsOf, roomOn } from './build-problem.ts';
import { plannedTypes } from './planned-types.ts';
import { CLAIM_PREFIX, isInFlight, isLeaving, type StateNode } from './state-node.ts';

/** The node, named as in the state, that was last kept for a pod. */
export type PlaceOf = (pod: Pod) => string | undefined;

/** A snapshot whose pods with a place that still holds are left where they are to go. */
export function keepPlaces(snapshot: ClusterSnapshot, placeOf: PlaceOf): ClusterSnapshot {
  const states = new Map<string, StateNode>();
  for (const state of snapshot.nodes) {
    states.set(state.name, state);
    // What was kept for a claim is kept for its node once that is there.
    if (state.claim !== undefined) states.set(`${CLAIM_PREFIX}${state.claim.metadata.name}`, state);
  }
  const kept = new Map<string, Pod[]>();
  const rooms = new Map<string, Record<string, number> | undefined>();
  const planned = plannedTypes(snapshot.pools);
  const isKept = (pod: Pod): boolean => {
    const state = states.get(placeOf(pod) ?? '');
    if (state === undefined || isLeaving(state)) return false;
    // The scheduler could have put a pending pod on a node that is up: if it has not, the place is none.
    if (!pod.spec.nodeName && !isInFlight(state)) return false;
    if (!rooms.has(state.name)) {
      rooms.set(state.name, roomOn(state, snapshot.podsOn(state.name), snapshot.daemonSets, planned));
    }
    const room = rooms.get(state.name);
    if (room === undefined || !takeIfFits(room, { pods: 1, ...requestsOf(pod) })) return false;
    const list = kept.get(state.name) ?? [];
    list.push(pod);
    kept.set(state.name, list);
    return true;
  };
  const pending = snapshot.pending.filter((pod) => !isKept(pod));
  const displaced = (snapshot.displaced ?? []).filter((pod) => !isKept(pod));
  return { ...snapshot, pending, displaced, kept };
}

function takeIfFits(room: Record<string, number>, requests: Readonly<Record<string, number>>): boolean {
  const wanted = Object.entries(requests).filter(([, amount]) => amount > 0);
  if (wanted.some(([name, amount]) => amount > (room[name] ?? 0))) return false;
  for (const [name, amount] of wanted) room[name] = (room[name] ?? 0) - amount;
  return true;
}
