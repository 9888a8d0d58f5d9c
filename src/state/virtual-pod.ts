import type { Pod } from '../apis/kubernetes/pod.ts';

/** Marks pods that exist in plans only. The annotation is Karpenter's. */
export const ANNOTATION_VIRTUAL_POD = 'karpenter.sh/capacity-buffer-fake-pod';

/** Lower than the priority of any real pod. */
export const LOWEST_PRIORITY = -(2 ** 31);

/** Whether a pod exists in plans only, to reserve room. */
export function isVirtualPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[ANNOTATION_VIRTUAL_POD] === 'true';
}
