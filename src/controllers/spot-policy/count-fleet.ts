import { LABEL_CAPACITY_TYPE } from '../../apis/karpenter/labels.ts';
import type { FleetCounts } from '../../engine/spot/spot-limits.ts';
import { spotPoolKey } from '../../engine/spot/spot-pool.ts';
import { labelsOf, poolOf, type StateNode } from '../../state/state-node.ts';
import { spotPoolOf } from './spot-pool-of.ts';

/** Node counts of a NodePool, per capacity type. */
export interface PoolCounts extends FleetCounts {
  readonly reserved: number;
}

/** Counts the nodes of each NodePool; a node that is not launched yet counts as planned. */
export function countFleet(nodes: readonly StateNode[]): ReadonlyMap<string, PoolCounts> {
  const counts = new Map<string, ReturnType<typeof none>>();
  for (const node of nodes) {
    const pool = poolOf(node);
    if (pool === undefined) continue;
    const labels = labelsOf(node);
    const count = counts.get(pool) ?? none();
    counts.set(pool, count);
    count.nodes++;
    const spotPool = spotPoolOf(labels);
    if (spotPool === undefined) count.onDemand++;
    else count.spot.set(spotPoolKey(spotPool), (count.spot.get(spotPoolKey(spotPool)) ?? 0) + 1);
    if (labels[LABEL_CAPACITY_TYPE] === 'reserved') count.reserved++;
  }
  return counts;
}

function none() {
  return { nodes: 0, onDemand: 0, reserved: 0, spot: new Map<string, number>() };
}
