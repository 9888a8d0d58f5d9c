/** How long a pod says that it is not to be disrupted. Pure. */
import { ANNOTATION_DO_NOT_DISRUPT } from '../apis/karpenter/labels.ts';
import { parseDuration } from '../apis/kubernetes/go-duration.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { parseTimestamp } from '../platform/clock.ts';

/**
 * Until when a pod says that it is not to be disrupted: for ever (infinity) with `true`, for a while from its start with a
 * duration; undefined when it says nothing, or nothing that makes sense.
 */
export function doNotDisruptUntil(pod: Pod): number | undefined {
  const forMs = protectedMs(pod.metadata.annotations?.[ANNOTATION_DO_NOT_DISRUPT]);
  if (forMs === undefined || forMs === 0) return undefined;
  // One that has not started yet has all its time before it.
  return (parseTimestamp(pod.status?.startTime) ?? Number.POSITIVE_INFINITY) + forMs;
}

/** What is wrong with what the pod says of it, and what to write; undefined if nothing is. */
export function doNotDisruptProblem(pod: Pod): string | undefined {
  const said = pod.metadata.annotations?.[ANNOTATION_DO_NOT_DISRUPT];
  if (protectedMs(said) !== undefined) return undefined;
  return `The annotation ${ANNOTATION_DO_NOT_DISRUPT} is "${said}", which protects the pod from nothing: write "true", or how long after its start the pod is not to be disrupted, such as "90m" or "1.5h"`;
}

/** How long a pod with that annotation is protected; undefined when that cannot be told. */
function protectedMs(said: string | undefined): number | undefined {
  if (said === undefined || said === 'false') return 0;
  if (said === 'true') return Number.POSITIVE_INFINITY;
  const forMs = Number(parseDuration(said) ?? 0n) / 1_000_000;
  return forMs > 0 ? forMs : undefined;
}
