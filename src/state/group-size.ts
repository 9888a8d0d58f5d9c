import type { Pod } from '../apis/kubernetes/pod.ts';
import { ANNOTATION_GROUP_SIZE } from '../apis/leader-worker-set/labels.ts';

/** How many pods the group of a LeaderWorkerSet has that a pod belongs to; 1 for pods of no group. All of them start anew when one goes. */
export function groupSize({ metadata }: Pod): number {
  const size = Number(metadata.annotations?.[ANNOTATION_GROUP_SIZE] ?? 1);
  return Number.isInteger(size) && size > 0 ? size : 1;
}
