import type { NodePool } from '../apis/karpenter/node-pool.ts';
import type { InstanceType } from '../engine/problem.ts';

/** A pool that can make nodes, and what from. */
export interface UsablePool {
  readonly pool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
  /** The same, in the same order, at the prices that are paid, where those above have something else in them, such as risk. */
  readonly sold?: readonly InstanceType[];
}
