/** The time of pod events that count for `consolidateAfter`. Pure. */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { hasEnded } from '../../../state/has-ended.ts';

/**
 * The time of a new event: the pod was bound, ended, or is being deleted. Undefined if none of these is new. Without `old`, the pod's own
 * scheduling time, so that pods are not new after a restart.
 */
export function podEventTime(pod: Pod, old: Pod | undefined, now: EpochMs): EpochMs | undefined {
  if (!pod.spec.nodeName || belongsToNode(pod)) return undefined;
  if (old === undefined) return scheduledAt(pod);
  const bound = !old.spec.nodeName;
  const ended = hasEnded(pod) && !hasEnded(old);
  const leaves = pod.metadata.deletionTimestamp !== undefined && old.metadata.deletionTimestamp === undefined;
  return bound || ended || leaves ? now : undefined;
}

/**
 * The same for a pod that no longer exists, from its last known state: `now` if it had not ended and was not terminating. A pod that is
 * deleted by force is never seen terminating.
 */
export function podGoneTime(pod: Pod, now: EpochMs): EpochMs | undefined {
  if (!pod.spec.nodeName || belongsToNode(pod) || hasEnded(pod)) return undefined;
  return pod.metadata.deletionTimestamp === undefined ? now : undefined;
}

/** DaemonSet and static pods belong to their node, and do not count. */
function belongsToNode({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node') ?? false;
}

function scheduledAt({ status }: Pod): EpochMs | undefined {
  const scheduled = status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  return scheduled?.status === 'True' ? parseTimestamp(scheduled.lastTransitionTime) : undefined;
}
