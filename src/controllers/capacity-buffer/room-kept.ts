/** Room for the virtual pods of a buffer: how much, on which nodes, at what price. Pure. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { Resources } from '../../engine/problem.ts';
import { type BufferPlaces, placeOf } from '../../state/headroom.ts';
import type { NotedRoom } from '../../state/headroom-note.ts';
import { knownRequests } from '../../state/known-requests.ts';
import { nodePrice, runningAs } from '../../state/node-price.ts';
import { listedResources } from '../../state/pod-group.ts';
import { allocatableOf, isInFlight, isLeaving, labelsOf, type StateNode } from '../../state/state-node.ts';
import type { RoomKept } from './buffer-condition.ts';

/** Computes the room of a buffer with that many virtual pods. */
export function roomKept(
  replicas: number,
  { placed, why }: BufferPlaces,
  nodes: readonly StateNode[],
  reservationOf: (labels: Readonly<Record<string, string>>) => string | undefined,
): RoomKept {
  let up = 0;
  let coming = 0;
  const rooms: NotedRoom[] = [];
  for (const state of nodes) {
    const place = placeOf(state);
    const pods = placed.get(place);
    if (pods === undefined || isLeaving(state)) continue;
    if (isInFlight(state)) coming += pods.length;
    else up += pods.length;
    rooms.push({ place, pods: pods.length, price: headroomPrice(state, pods, reservationOf) });
  }
  return { replicas, up, coming, why, rooms };
}

/** The virtual pods' share of a node's price: their largest share of any one resource. */
export function headroomPrice(
  state: StateNode,
  pods: readonly Pod[],
  reservationOf: (labels: Readonly<Record<string, string>>) => string | undefined,
): number {
  const told = allocatableOf(state);
  const allocatable: Resources = told === undefined ? {} : listedResources(told);
  const taken: Record<string, number> = {};
  for (const pod of pods)
    for (const [name, amount] of Object.entries(knownRequests(pod).resources))
      taken[name] = (taken[name] ?? 0) + amount;
  const shares = Object.entries(taken).map(
    ([name, amount]) => amount / (allocatable[name] || Number.POSITIVE_INFINITY),
  );
  return (
    nodePrice(runningAs(labelsOf(state), reservationOf), undefined, state.claim) * Math.min(1, Math.max(0, ...shares))
  );
}
