/** When something happened to a pod that matters to its node. Pure. */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { hasEnded } from '../../../state/has-ended.ts';

/**
 * The time of a pod's coming to its node, its end there or its being told to leave; undefined when none of that is new.
 * Without an old one it is what the pod itself says of its coming, so that a restart does not take all pods for new ones.
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
 * The same for a pod that is gone, as it was last known before: where it had neither ended nor been told to leave by then. One that
 * is deleted by force says only with its end that it was told to leave.
 */
export function podGoneTime(pod: Pod, now: EpochMs): EpochMs | undefined {
  if (!pod.spec.nodeName || belongsToNode(pod) || hasEnded(pod)) return undefined;
  return pod.metadata.deletionTimestamp === undefined ? now : undefined;
}

/** Pods of daemons and kubelets come and go with their node. */
function belongsToNode({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node') ?? false;
}

function scheduledAt({ status }: Pod): EpochMs | undefined {
  const scheduled = status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  return scheduled?.status === 'True' ? parseTimestamp(scheduled.lastTransitionTime) : undefined;
}
