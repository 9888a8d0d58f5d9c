import type { Pod } from '../apis/kubernetes/pod.ts';

/** Whether a pod belongs to its node, as static pods do. */
export function isOfNode({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'Node') ?? false;
}
