import type { Node } from '../apis/kubernetes/node.ts';

/** Whether the node says that it is ready. */
export function isReady({ status }: Node): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
}
