import { withConditions } from '../../apis/karpenter/condition-changes.ts';
import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import { NODE_POOL_CONDITIONS, NODE_POOLS, type NodePool } from '../../apis/karpenter/node-pool.ts';
import type { ControllersOptions } from '../controllers-options.ts';

/** Writes a condition of a pool, with other status fields; returns whether anything changed. */
export async function sayOfPool(
  { writes, clock }: Pick<ControllersOptions, 'writes' | 'clock'>,
  pool: NodePool,
  change: ConditionChange,
  signal: AbortSignal,
  status: Pick<NonNullable<NodePool['status']>, 'nodeClassObservedGeneration'> = {},
): Promise<boolean> {
  const conditions = withConditions(NODE_POOL_CONDITIONS, pool, [change], clock.now());
  const { nodeClassObservedGeneration: observed = pool.status?.nodeClassObservedGeneration } = status;
  if (conditions === pool.status?.conditions && observed === pool.status?.nodeClassObservedGeneration) return false;
  const body = { status: { ...status, conditions } };
  await writes.patch(NODE_POOLS, pool, body, { signal, subresource: 'status' });
  return true;
}
