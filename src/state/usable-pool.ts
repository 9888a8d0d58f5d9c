import type { NodePool } from '../apis/karpenter/node-pool.ts';
import type { InstanceType } from '../engine/problem.ts';

/** A pool that can make nodes, and what from. */
export interface UsablePool {
  readonly pool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
}

/** The same where prices of a plan are not those that are paid: `instanceTypes` has the former, `sold` the latter. */
export interface PricedPool extends UsablePool {
  readonly sold: readonly InstanceType[];
}
