import { durationMs } from '../apis/karpenter/duration.ts';
import { ANNOTATION_DO_NOT_DISRUPT } from '../apis/karpenter/labels.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { parseTimestamp } from '../platform/clock.ts';

/**
 * Until when a pod says that it is not to be disrupted: for ever (infinity) with `true`, for a while from its start with a
 * duration; undefined when it says nothing, or nothing that makes sense.
 */
export function doNotDisruptUntil(pod: Pod): number | undefined {
  const said = pod.metadata.annotations?.[ANNOTATION_DO_NOT_DISRUPT];
  if (said === undefined) return undefined;
  if (said === 'true') return Number.POSITIVE_INFINITY;
  const forMs = durationMs(said) ?? 0;
  if (forMs <= 0) return undefined;
  // One that has not started yet has all its time before it.
  return (parseTimestamp(pod.status?.startTime) ?? Number.POSITIVE_INFINITY) + forMs;
}
