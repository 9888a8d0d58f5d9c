import type { Pod } from '../apis/kubernetes/pod.ts';

/** The pod's containers will not run again. */
export function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}
