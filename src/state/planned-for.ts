/**
 * The pods that a node was launched for, written on its claim, so that any process can tell later whether the launch helped them. Pods of
 * the same owner and size are one demand, because they can replace each other.
 */
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { SPINDRIFT_GROUP } from '../apis/spindrift/group.ts';
import { type KnownRequests, knownRequests } from './known-requests.ts';
import { ownerOf } from './steerable.ts';

/** On a claim: the demands it was planned for, one word each (`DEMAND#ATTEMPT`). */
export const ANNOTATION_PLANNED_FOR = `${SPINDRIFT_GROUP}/planned-for`;

/** Stands for the pool itself among the demands of a claim. */
export const WHOLE_POOL = '*';

/** By demand: the number of this launch, counting the unsuccessful ones before it. */
export type PlannedFor = ReadonlyMap<string, number>;

const NOTHING: PlannedFor = new Map();
const READ = new WeakMap<NodeClaim, PlannedFor>();
const SIZES = new WeakMap<KnownRequests, string>();

/** Identifies pods that can replace each other: by their owner and requests. A pod without an owner stands alone. */
export function demandOf(pod: Pod): string {
  return `${ownerOf(pod) ?? pod.metadata.uid ?? ''}:${sizeOf(knownRequests(pod))}`;
}

/** The requests as a short word, cached for equal pods. */
function sizeOf(requests: KnownRequests): string {
  const known = SIZES.get(requests);
  if (known !== undefined) return known;
  const amounts = Object.entries(requests.resources).sort(([a], [b]) => (a < b ? -1 : 1));
  const size = amounts.map(([, amount]) => amount.toString(36)).join('.');
  SIZES.set(requests, size);
  return size;
}

export function writePlannedFor(attempts: PlannedFor): string {
  return [...attempts].map(([demand, attempt]) => `${demand}#${attempt}`).join(' ');
}

/** Reads it from a claim. Unreadable words are skipped, as someone may have edited them. */
export function plannedFor(claim: NodeClaim): PlannedFor {
  const text = claim.metadata.annotations?.[ANNOTATION_PLANNED_FOR];
  if (text === undefined) return NOTHING;
  const known = READ.get(claim);
  if (known !== undefined) return known;
  const read = new Map(
    text.split(' ').flatMap((word): [string, number][] => {
      const at = word.lastIndexOf('#');
      const attempt = Number(word.slice(at + 1));
      return at > 0 && Number.isInteger(attempt) && attempt > 0 ? [[word.slice(0, at), attempt]] : [];
    }),
  );
  READ.set(claim, read);
  return read;
}
