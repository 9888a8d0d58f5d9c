import { ANNOTATION_DISRUPTION_COST } from '../apis/karpenter/labels.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';

/** Kubernetes' own word for which pods of a ReplicaSet go first. */
export const ANNOTATION_POD_DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

const LEAST_INT32 = -(2 ** 31);
const MOST_INT32 = 2 ** 31 - 1;

/**
 * What the eviction of a pod costs: 1 for an ordinary one, more for those that matter more, from -10 to 10. The pod's own
 * word comes first, then its deletion cost; its priority counts beside both.
 */
export function evictionCost({ metadata, spec }: Pod): number {
  const { annotations = {} } = metadata;
  const said = int32(annotations[ANNOTATION_DISRUPTION_COST]) ?? int32(annotations[ANNOTATION_POD_DELETION_COST]) ?? 0;
  return Math.min(10, Math.max(-10, 1 + said / 2 ** 27 + (spec.priority ?? 0) / 2 ** 25));
}

/** A number as Kubernetes reads these annotations; what is not one says nothing. */
function int32(text: string | undefined): number | undefined {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return undefined;
  const number = Number(text);
  return number >= LEAST_INT32 && number <= MOST_INT32 ? number : undefined;
}
