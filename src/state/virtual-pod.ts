import type { Pod } from '../apis/kubernetes/pod.ts';

/** On pods that exist in plans only; Karpenter's word for it. */
export const ANNOTATION_VIRTUAL_POD = 'karpenter.sh/capacity-buffer-fake-pod';

/** Below every real pod. */
export const LOWEST_PRIORITY = -(2 ** 31);

/** Whether a pod only stands for room that a CapacityBuffer keeps. */
export function isVirtualPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[ANNOTATION_VIRTUAL_POD] === 'true';
}
