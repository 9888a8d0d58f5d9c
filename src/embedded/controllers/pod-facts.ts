/** Facts about pods that controllers need. */
import type { Condition } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { parseTimestamp } from '../../platform/clock.ts';

const NO_CONDITIONS: readonly Condition[] = [];

/** Whether the pod has succeeded or failed. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** Whether the pod counts towards the replicas of its owner. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && !isTerminating(pod);
}

export function isReady(pod: Pod): boolean {
  // Called for every pod of a workload on every reconcile, so it avoids a closure.
  for (const condition of pod.status?.conditions ?? NO_CONDITIONS) {
    if (condition.type === 'Ready') return condition.status === 'True';
  }
  return false;
}

/** When the pod will have been ready for this long; undefined if it is not ready. */
export function availableAt(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = pod.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True');
  if (ready === undefined) return undefined;
  return (parseTimestamp(ready.lastTransitionTime) ?? 0) + minReadySeconds * 1000;
}

/** Whether the pod has been ready for at least this long. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (minReadySeconds === 0) return isReady(pod);
  const at = availableAt(pod, minReadySeconds);
  return at !== undefined && at <= now;
}

/** Time until the next of these pods becomes available by waiting alone; undefined if none does. */
export function untilAvailable(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  if (minReadySeconds === 0) return undefined;
  const waits = pods.map((pod) => (availableAt(pod, minReadySeconds) ?? 0) - now).filter((wait) => wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** The total number of restarts of its containers. */
export function restartsOf(pod: Pod): number {
  return (pod.status?.containerStatuses ?? []).reduce((sum, status) => sum + Number(status.restartCount ?? 0), 0);
}
