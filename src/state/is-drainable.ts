import { TAINT_DISRUPTED } from '../apis/karpenter/labels.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { tolerates } from '../apis/kubernetes/taints.ts';

const ANNOTATION_MIRROR = 'kubernetes.io/config.mirror';

/** Whether a drain evicts the pod: it is not part of its node, and does not tolerate the disruption taint. */
export function isDrainable(pod: Pod): boolean {
  if (pod.metadata.ownerReferences?.some(({ kind }) => kind === 'Node')) return false;
  // A mirror pod is recreated by its kubelet whenever it is evicted.
  if (pod.metadata.annotations?.[ANNOTATION_MIRROR] !== undefined) return false;
  return !(pod.spec.tolerations ?? []).some((toleration) => tolerates(toleration, TAINT_DISRUPTED));
}
