/** Which pods of a node that goes are made to leave now. Pure. */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import { decideEviction, deletedAt } from './decide-eviction.ts';
import { drainGroup, isAwaited, stuckAt } from './drainable-pod.ts';

export interface DrainPlan {
  /** All the node waits for; it is drained when there are none. */
  readonly awaited: readonly Pod[];
  /** To be evicted, or deleted, now. */
  readonly due: readonly Pod[];
  /** Not to be disrupted yet, and their turn has come. */
  readonly held: readonly Pod[];
  /** When the plan changes by time alone; infinity when it does not. */
  readonly changesAt: number;
}

export function decideDrain(pods: readonly Pod[], now: EpochMs, deadline: EpochMs | undefined): DrainPlan {
  const awaited = pods.filter((pod) => isAwaited(pod, now));
  const turn = Math.min(...awaited.map(drainGroup));
  const due: Pod[] = [];
  const held: Pod[] = [];
  let changesAt = Number.POSITIVE_INFINITY;
  for (const pod of awaited) {
    const eviction = decideEviction(pod, now, deadline);
    const itsTurn = drainGroup(pod) === turn;
    // Who has no more time left goes with the first, whatever the group.
    if (eviction.kind === 'delete' || (eviction.kind === 'evict' && itsTurn)) due.push(pod);
    if (eviction.kind === 'held' && itsTurn) {
      held.push(pod);
      changesAt = Math.min(changesAt, eviction.until);
    }
    const deleted = deletedAt(pod, deadline);
    changesAt = Math.min(changesAt, stuckAt(pod) + 1, deleted > now ? deleted : Number.POSITIVE_INFINITY);
  }
  return { awaited, due, held, changesAt };
}
