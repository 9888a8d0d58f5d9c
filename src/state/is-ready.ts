import type { Node } from '../apis/kubernetes/node.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';

/** Whether the node or pod says that it is ready. */
export function isReady({ status }: Node | Pod): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
}
