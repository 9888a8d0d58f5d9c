/** Decides which pods of a draining node are evicted or deleted now. Pure. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { DrainPlan as TimedPlan } from '../../engine/drain/drain-plan.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { decideEviction, deletedAt } from './decide-eviction.ts';
import { drainGroup, isAwaited, stuckAt } from './drainable-pod.ts';

export interface DrainPlan {
  /** Pods that the node still waits for; it is drained when there are none. */
  readonly awaited: readonly Pod[];
  /** Pods to evict or delete now. Pods of a timed plan are last, in the order of the plan. */
  readonly due: readonly Pod[];
  /** For pods evicted because the machine is being interrupted: when they must have ended. */
  readonly endBy: ReadonlyMap<Pod, number>;
  /** Pods whose turn it is, but which must not be disrupted yet. */
  readonly held: readonly Pod[];
  /** When the decision changes by time alone; infinity for never. */
  readonly changesAt: number;
}

/** An interruption: the machine is lost at a known time. */
export interface TakenAway {
  readonly plan: TimedPlan;
  /** When an already terminating pod must have ended, if its own grace period is too long; else undefined. */
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
    // A pod at its deadline is deleted at once, whatever its group.
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

/** Sorts pods of the timed plan by its order: pods that share a budget must be evicted in that order. */
function inPlannedOrder(due: readonly Pod[], taken: TakenAway | undefined): readonly Pod[] {
  if (taken === undefined) return due;
  const turns = new Map(taken.plan.steps.map(({ pod }, index) => [pod.id, index]));
  const turnOf = ({ metadata }: Pod): number => turns.get(metadata.uid ?? '') ?? -1;
  return due.toSorted((a, b) => turnOf(a) - turnOf(b));
}
