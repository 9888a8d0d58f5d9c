import type { Pod } from '../apis/kubernetes/pod.ts';

/** The pod's containers will not run again. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
