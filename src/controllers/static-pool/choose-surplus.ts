/** Which nodes go when a static pool has too many. Pure. */
import { poolOf, type StateNode } from '../../state/state-node.ts';
import { isOnDemand, onDemandLost } from '../spot-policy/on-demand-lost.ts';
import type { SpotPolicies } from '../spot-policy/spot-policies.ts';

/**
 * So many of the nodes, first ones first. On-demand nodes that a SpotPolicy asks for are passed over as long as others are left.
 */
export function chooseSurplus(
  ordered: readonly StateNode[],
  surplus: number,
  policies: Pick<SpotPolicies, 'for'>,
): StateNode[] {
  const chosen = new Set<StateNode>();
  const passedOver: StateNode[] = [];
  for (const node of ordered) {
    if (chosen.size === surplus) break;
    const going = [...chosen, node];
    const staying = ordered.filter((other) => !going.includes(other));
    if (
      isOnDemand(node) &&
      poolOf(node) !== undefined &&
      onDemandLost({ going, staying, newNodes: [] }, policies).length > 0
    )
      passedOver.push(node);
    else chosen.add(node);
  }
  return [...chosen, ...passedOver].slice(0, surplus);
}
