import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import type { FleetCounts } from '../../engine/spot/spot-limits.ts';
import { spotPoolKey } from '../../engine/spot/spot-pool.ts';
import { labelsOf, poolOf, type StateNode } from '../../state/state-node.ts';

/** The nodes of each NodePool, counted by how they are paid for; one that is not launched yet counts as what it is planned as. */
export function countFleet(nodes: readonly StateNode[]): ReadonlyMap<string, FleetCounts> {
  const counts = new Map<string, { nodes: number; onDemand: number; readonly spot: Map<string, number> }>();
  for (const node of nodes) {
    const pool = poolOf(node);
    if (pool === undefined) continue;
    const labels = labelsOf(node);
    const count = counts.get(pool) ?? { nodes: 0, onDemand: 0, spot: new Map() };
    counts.set(pool, count);
    count.nodes++;
    if (labels[LABEL_CAPACITY_TYPE] !== 'spot') count.onDemand++;
    else {
      const key = spotPoolKey({ instanceType: labels[LABEL_INSTANCE_TYPE] ?? '', zone: labels[LABEL_ZONE] ?? '' });
      count.spot.set(key, (count.spot.get(key) ?? 0) + 1);
    }
  }
  return counts;
}
