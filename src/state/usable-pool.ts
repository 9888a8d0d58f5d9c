import type { NodePool } from '../apis/karpenter/node-pool.ts';
import type { InstanceType } from '../engine/problem.ts';

/** A pool that can launch nodes, and its instance types. */
export interface UsablePool {
  readonly pool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
  /** The same types in the same order at the prices actually paid, if the prices above include a risk premium. */
  readonly sold?: readonly InstanceType[];
}
