import { onDemandWanted } from '../../engine/spot/spot-limits.ts';
import { isGoing, poolOf, type StateNode } from '../../state/state-node.ts';
import { isOnDemand } from './on-demand-lost.ts';
import type { SpotPolicies } from './spot-policies.ts';

/**
 * Names of on-demand nodes that consolidation must keep, because the nodes in use have fewer than the SpotPolicy of the pool requires:
 * as many empty ones as are missing, and all that are in use. Pods of spot nodes can move to them, and the spot nodes are removed
 * instead. Nothing is kept of a pool without used nodes.
 */
export function keptOnDemand(
  nodes: readonly StateNode[],
  policies: Pick<SpotPolicies, 'for'>,
  isEmpty: (state: StateNode) => boolean,
): ReadonlySet<string> {
  const kept = new Set<string>();
  const staying = nodes.filter((node) => !isGoing(node));
  for (const [pool = '', ofPool] of Map.groupBy(staying, (node) => poolOf(node))) {
    const { limits } = policies.for(pool);
    if (limits.onDemandBase === 0 && limits.onDemandPercent === 0) continue;
    const used = ofPool.filter((node) => !isEmpty(node));
    const usedOnDemand = used.filter(isOnDemand);
    const missing = onDemandWanted(limits, used.length) - usedOnDemand.length;
    if (missing <= 0) continue;
    const empty = ofPool.filter((node) => isEmpty(node) && isOnDemand(node)).map(({ name }) => name);
    for (const name of empty.sort().slice(0, missing)) kept.add(name);
    for (const { name } of usedOnDemand) kept.add(name);
  }
  return kept;
}
