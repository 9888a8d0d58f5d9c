/** What controllers ask about pods. */
import type { Condition } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { parseTimestamp } from '../../platform/clock.ts';

const NO_CONDITIONS: readonly Condition[] = [];

/** It has ended, well or badly. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** It counts towards the replicas of its owner. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && !isTerminating(pod);
}

export function isReady(pod: Pod): boolean {
  // Asked of every pod of a workload on every look, so it does without a closure.
  for (const condition of pod.status?.conditions ?? NO_CONDITIONS) {
    if (condition.type === 'Ready') return condition.status === 'True';
  }
  return false;
}

/** When it will have been ready for that long; undefined when it is not ready. */
export function availableAt(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = pod.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True');
  if (ready === undefined) return undefined;
  return (parseTimestamp(ready.lastTransitionTime) ?? 0) + minReadySeconds * 1000;
}

/** It has been ready for at least that long. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (minReadySeconds === 0) return isReady(pod);
  const at = availableAt(pod, minReadySeconds);
  return at !== undefined && at <= now;
}

/** How long until the next of these pods becomes available by time alone; undefined when none does. */
export function untilAvailable(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  if (minReadySeconds === 0) return undefined;
  const waits = pods.map((pod) => (availableAt(pod, minReadySeconds) ?? 0) - now).filter((wait) => wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** How often its containers were started again, all together. */
export function restartsOf(pod: Pod): number {
  return (pod.status?.containerStatuses ?? []).reduce((sum, status) => sum + Number(status.restartCount ?? 0), 0);
}
