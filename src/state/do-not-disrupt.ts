/** The `do-not-disrupt` annotation of pods. Pure. */
import { ANNOTATION_DO_NOT_DISRUPT } from '../apis/karpenter/labels.ts';
import { parseDuration } from '../apis/kubernetes/go-duration.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { parseTimestamp } from '../platform/clock.ts';

/**
 * Until when a pod must not be disrupted: for ever (infinity) with `true`, or for a duration from its start. Undefined without the
 * annotation, or if its value is invalid.
 */
export function doNotDisruptUntil(pod: Pod): number | undefined {
  const forMs = protectedMs(pod.metadata.annotations?.[ANNOTATION_DO_NOT_DISRUPT]);
  if (forMs === undefined || forMs === 0) return undefined;
  // A pod that has not started yet keeps its full duration.
  return (parseTimestamp(pod.status?.startTime) ?? Number.POSITIVE_INFINITY) + forMs;
}

/** The problem with the annotation's value, and valid ones; undefined if there is no problem. */
export function doNotDisruptProblem(pod: Pod): string | undefined {
  const said = pod.metadata.annotations?.[ANNOTATION_DO_NOT_DISRUPT];
  if (protectedMs(said) !== undefined) return undefined;
  return `The annotation ${ANNOTATION_DO_NOT_DISRUPT} is "${said}", which is not valid and does not protect the pod: write "true", or how long after its start the pod must not be disrupted, such as "90m" or "1.5h"`;
}

/** How long the annotation protects a pod; undefined if it is absent or invalid. */
function protectedMs(said: string | undefined): number | undefined {
  if (said === undefined || said === 'false') return 0;
  if (said === 'true') return Number.POSITIVE_INFINITY;
  const forMs = Number(parseDuration(said) ?? 0n) / 1_000_000;
  return forMs > 0 ? forMs : undefined;
}
