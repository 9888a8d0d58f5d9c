/**
 * Finds nodes that are reserved for pending pods. The autoscaler keeps its reservations in memory; outside they show only in
 * `Nominated` events of pods, and in nodes that have just initialized.
 */
import { EVENTS, type Event } from '../../apis/kubernetes/event.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { NOMINATED, nominatedPlaces } from '../../controllers/provisioning/events.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { hasCode } from '../../platform/errors.ts';
import { LONGEST_MS, Nominations, SHORTEST_MS } from '../../state/nominations.ts';
import { CLAIM_PREFIX } from '../../state/state-node.ts';
import type { WatchedCluster } from '../live-cluster.ts';

/** Returns the reservations, and whether events could be read. */
export async function readNominations(
  { client, clock, state }: WatchedCluster,
  signal: AbortSignal,
): Promise<{ readonly nominations: Nominations; readonly eventsRead: boolean }> {
  const { pods } = state.informers;
  // One snapshot does not tell since when a node has had no pods on their way.
  const nominations = new Nominations({ clock, pods, waitingPods: { quietMs: 0 } });
  try {
    const { items } = await client.list(EVENTS, { fieldSelector: `reason=${NOMINATED}` }, { signal });
    for (const { node, pod } of places(items, pods, clock.now())) nominations.nominate(node, [pod]);
    return { nominations, eventsRead: true };
  } catch (error) {
    if (!hasCode(error, 'KUBE_FORBIDDEN')) throw error;
    return { nominations, eventsRead: false };
  }
}

/** Reservations that still hold, by the newest event of each pod. */
export function places(
  events: readonly Event[],
  pods: { get(key: { namespace: string; name: string }): Pod | undefined },
  now: EpochMs,
): { readonly node: string; readonly pod: Pod }[] {
  const latest = new Map<string, Event>();
  for (const event of events) {
    const { uid = '' } = event.involvedObject;
    const known = latest.get(uid);
    if (known === undefined || saidAt(event) >= saidAt(known)) latest.set(uid, event);
  }
  return [...latest.values()].flatMap((event) => {
    const { namespace = '', name = '', uid } = event.involvedObject;
    const age = now - saidAt(event);
    const pod = pods.get({ namespace, name });
    if (pod === undefined || pod.metadata.uid !== uid) return [];
    const waits = age < LONGEST_MS && !pod.spec.nodeName;
    if (!waits && age >= SHORTEST_MS) return [];
    return nominatedPlaces(event.message).map((place) => ({ node: stateName(place), pod }));
  });
}

/** The key that the state uses: nodes by name, claims with their prefix. */
function stateName(place: string): string {
  return place.startsWith(CLAIM_PREFIX) ? place : place.replace(/^node\//, '');
}

function saidAt({ lastTimestamp, firstTimestamp, metadata }: Event): number {
  return parseTimestamp(lastTimestamp ?? firstTimestamp ?? metadata.creationTimestamp) ?? 0;
}
