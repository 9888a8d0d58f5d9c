/** Chooses the surplus nodes of a static pool to delete. Pure. */
import { onDemandWanted } from '../../engine/spot/spot-limits.ts';
import { poolOf, type StateNode } from '../../state/state-node.ts';
import { isOnDemand } from '../spot-policy/on-demand-lost.ts';
import type { SpotPolicies } from '../spot-policy/spot-policies.ts';

/**
 * Takes `surplus` nodes in the given order. On-demand nodes that the SpotPolicy requires of the remaining nodes are skipped as long as
 * there are others.
 */
export function chooseSurplus(
  ordered: readonly StateNode[],
  surplus: number,
  policies: Pick<SpotPolicies, 'for'>,
): StateNode[] {
  const { limits } = policies.for((ordered[0] && poolOf(ordered[0])) ?? '');
  const wanted = onDemandWanted(limits, Math.max(0, ordered.length - surplus));
  let spare = ordered.filter(isOnDemand).length - wanted;
  const chosen: StateNode[] = [];
  const passedOver: StateNode[] = [];
  for (const node of ordered) {
    if (!isOnDemand(node)) chosen.push(node);
    else if (spare-- > 0) chosen.push(node);
    else passedOver.push(node);
  }
  return [...chosen, ...passedOver].slice(0, surplus);
}
