/** Which pods a node waits for when it goes, and in which order they are asked to leave. Pure. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { hasEnded } from '../has-ended.ts';
import { isDrainable } from '../is-drainable.ts';

/** A pod that is still there so long after its end was due has nobody who would end it. */
const STUCK_MS = 60_000;
const CRITICAL = ['system-cluster-critical', 'system-node-critical'];
const DEFAULT_GRACE_SECONDS = 30;

/** Whether a node that goes waits for the pod. */
export function isAwaited(pod: Pod, now: EpochMs): boolean {
  return !hasEnded(pod) && isDrainable(pod) && !(now > stuckAt(pod));
}

/** When a pod that was told to leave is given up on; never for one that was not. */
export function stuckAt(pod: Pod): number {
  const endsAt = parseTimestamp(pod.metadata.deletionTimestamp);
  return endsAt === undefined ? Number.POSITIVE_INFINITY : endsAt + STUCK_MS;
}

/** Four groups leave one after the other; the lowest first. Those that others depend on go last. */
export function drainGroup({ metadata, spec }: Pod): 0 | 1 | 2 | 3 {
  const critical = CRITICAL.includes(spec.priorityClassName ?? '');
  const daemon = metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') ?? false;
  if (critical) return daemon ? 3 : 2;
  return daemon ? 1 : 0;
}

/** How long a pod may take to end, in seconds. */
export function graceSeconds({ spec }: Pod): number {
  return spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
}
