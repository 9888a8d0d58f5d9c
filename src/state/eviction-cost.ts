import { ANNOTATION_DISRUPTION_COST } from '../apis/karpenter/labels.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';

/** Kubernetes' annotation that decides which pods of a ReplicaSet are deleted first. */
export const ANNOTATION_POD_DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

const LEAST_INT32 = -(2 ** 31);
const MOST_INT32 = 2 ** 31 - 1;

/**
 * The cost of evicting a pod, from -10 to 10; 1 for an ordinary pod. The disruption cost annotation overrides the pod deletion cost; the
 * priority is added to either.
 */
export function evictionCost({ metadata, spec }: Pod): number {
  const { annotations = {} } = metadata;
  const said = int32(annotations[ANNOTATION_DISRUPTION_COST]) ?? int32(annotations[ANNOTATION_POD_DELETION_COST]) ?? 0;
  return Math.min(10, Math.max(-10, 1 + said / 2 ** 27 + (spec.priority ?? 0) / 2 ** 25));
}

/** An annotation's value as int32, as Kubernetes parses it; undefined if it is invalid. */
function int32(text: string | undefined): number | undefined {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return undefined;
  const number = Number(text);
  return number >= LEAST_INT32 && number <= MOST_INT32 ? number : undefined;
}
