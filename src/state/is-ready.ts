import type { Node } from '../apis/kubernetes/node.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';

/** Whether the Ready condition of the node or pod is true. */
export function isReady({ status }: Node | Pod): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
}
