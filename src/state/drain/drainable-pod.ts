/** Which pods a draining node waits for, and in which order they are evicted. Pure. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { hasEnded } from '../has-ended.ts';
import { isDrainable } from '../is-drainable.ts';

/** A pod that still exists this long after its deletion deadline is stuck: no kubelet will end it. */
const STUCK_MS = 60_000;
const CRITICAL = ['system-cluster-critical', 'system-node-critical'];
const DEFAULT_GRACE_SECONDS = 30;

/** Whether a draining node waits for the pod. */
export function isAwaited(pod: Pod, now: EpochMs): boolean {
  return !hasEnded(pod) && isDrainable(pod) && !(now > stuckAt(pod));
}

/** When a terminating pod counts as stuck; never for other pods. */
export function stuckAt(pod: Pod): number {
  const endsAt = parseTimestamp(pod.metadata.deletionTimestamp);
  return endsAt === undefined ? Number.POSITIVE_INFINITY : endsAt + STUCK_MS;
}

/**
 * Four groups are evicted one after the other, lowest first. Critical pods and DaemonSet pods are last, because other pods depend on them.
 */
export function drainGroup({ metadata, spec }: Pod): 0 | 1 | 2 | 3 {
  const critical = CRITICAL.includes(spec.priorityClassName ?? '');
  const daemon = metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') ?? false;
  if (critical) return daemon ? 3 : 2;
  return daemon ? 1 : 0;
}

/** The termination grace period of a pod, in seconds. */
export function graceSeconds({ spec }: Pod): number {
  return spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
}
