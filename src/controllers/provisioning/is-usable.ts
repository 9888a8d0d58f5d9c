import type { NodePool } from '../../apis/karpenter/node-pool.ts';

/** Whether nodes are made for pods from this pool: it is ready, it stays, and it is not one that keeps a fixed number. */
export function isUsable(pool: NodePool): boolean {
  if (pool.metadata.deletionTimestamp !== undefined || pool.spec.replicas !== undefined) return false;
  return (pool.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
}
