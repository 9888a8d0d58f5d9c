import { LABEL_CAPACITY_TYPE } from '../../apis/karpenter/labels.ts';
import { onDemandWanted } from '../../engine/spot/spot-limits.ts';
import { isGoing, labelsOf, poolOf, type StateNode } from '../../state/state-node.ts';
import type { SpotPolicies } from './spot-policies.ts';

/**
 * Names of the on-demand nodes that stay as they are because the policy of their pool asks for more of them beside the nodes that
 * are in use: empty ones, as many as are missing, and where any are missing those in use too. Pods of spot nodes can move
 * there, and then those go instead. Nothing is kept of a pool that nobody uses.
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

function isOnDemand(state: StateNode): boolean {
  return labelsOf(state)[LABEL_CAPACITY_TYPE] !== 'spot';
}
