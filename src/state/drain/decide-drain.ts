/** Which pods of a node that goes are made to leave now. Pure. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { DrainPlan as TimedPlan } from '../../engine/drain/drain-plan.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { decideEviction, deletedAt } from './decide-eviction.ts';
import { drainGroup, isAwaited, stuckAt } from './drainable-pod.ts';

export interface DrainPlan {
  /** All the node waits for; it is drained when there are none. */
  readonly awaited: readonly Pod[];
  /** To be evicted, or deleted, now; those that a timed plan speaks of in its order, after all others. */
  readonly due: readonly Pod[];
  /** Of those that are due because the machine is taken away: by when they have to have ended. */
  readonly endBy: ReadonlyMap<Pod, number>;
  /** Not to be disrupted yet, and their turn has come. */
  readonly held: readonly Pod[];
  /** When the plan changes by time alone; infinity when it does not. */
  readonly changesAt: number;
}

/** How the machine of the node is taken away, at a known time. */
export interface TakenAway {
  readonly plan: TimedPlan;
  /** By when a pod that is leaving already has to have ended; undefined where it will have. */
  shortenedEnd(pod: Pod): number | undefined;
}

export function decideDrain(
  pods: readonly Pod[],
  now: EpochMs,
  deadline: EpochMs | undefined,
  taken?: TakenAway,
): DrainPlan {
  const awaited = pods.filter((pod) => isAwaited(pod, now));
  const turn = Math.min(...awaited.map(drainGroup));
  const steps = new Map(taken?.plan.steps.map((step) => [step.pod.id, step]));
  const due: Pod[] = [];
  const held: Pod[] = [];
  const endBy = new Map<Pod, number>();
  let changesAt = Number.POSITIVE_INFINITY;
  for (const pod of awaited) {
    const step = steps.get(pod.metadata.uid ?? '');
    const asked = step === undefined ? taken?.shortenedEnd(pod) : step.askAt <= now ? step.endBy : undefined;
    if (asked !== undefined) endBy.set(pod, asked);
    const eviction = decideEviction(pod, now, deadline, asked);
    const itsTurn = taken === undefined ? drainGroup(pod) === turn : asked !== undefined;
    // Who has no more time left goes with the first, whatever the group.
    if (eviction.kind === 'delete' || (eviction.kind === 'evict' && itsTurn)) due.push(pod);
    if (eviction.kind === 'held' && (itsTurn || step !== undefined)) {
      held.push(pod);
      changesAt = Math.min(changesAt, eviction.until);
    }
    if (step !== undefined && step.askAt > now) changesAt = Math.min(changesAt, step.askAt);
    const deleted = deletedAt(pod, deadline);
    changesAt = Math.min(changesAt, stuckAt(pod) + 1, deleted > now ? deleted : Number.POSITIVE_INFINITY);
  }
  return { awaited, due: inPlannedOrder(due, taken), endBy, held, changesAt };
}

/** Of pods that share a budget, the first to ask has the first turn: it must be the one whom the plan gives it. */
function inPlannedOrder(due: readonly Pod[], taken: TakenAway | undefined): readonly Pod[] {
  if (taken === undefined) return due;
  const turns = new Map(taken.plan.steps.map(({ pod }, index) => [pod.id, index]));
  const turnOf = ({ metadata }: Pod): number => turns.get(metadata.uid ?? '') ?? -1;
  return due.toSorted((a, b) => turnOf(a) - turnOf(b));
}
