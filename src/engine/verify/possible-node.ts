import type { InstanceType, Offering, Pool, Problem } from '../problem.ts';
import { newNode, type PlannedNode, possible } from './planned-node.ts';

/** The node that the pool would get from the offering now, ignoring limits and slots; undefined if the pool may not use it. */
export function possibleNode(
  problem: Problem,
  pool: Pool,
  type: InstanceType,
  offering: Offering,
): PlannedNode | undefined {
  if (offering.healthy === false) return undefined;
  if (pool.instanceTypes !== undefined && !pool.instanceTypes.includes(type.name)) return undefined;
  if (pool.capacityTypePolicy === 'reserved-only' && offering.capacityType !== 'reserved') return undefined;
  if (pool.capacityTypePolicy === 'reserved-or-on-demand' && offering.capacityType === 'spot') return undefined;
  const node = newNode({ name: 'a possible node', pool, type, offering }, problem);
  const allowed =
    possible(node, [...(pool.requirements ?? []), ...(type.requirements ?? [])]) &&
    Object.entries(pool.labels ?? {}).every(([key, value]) => node.labels.get(key) === value);
  return allowed ? node : undefined;
}
