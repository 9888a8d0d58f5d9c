import { conditionOf } from '../../apis/karpenter/conditions.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import type { StateNode } from '../../state/state-node.ts';

/** Since when the claim has the condition Drifted. */
export function driftedSince({ claim }: StateNode): number | undefined {
  const drifted = claim && conditionOf(claim, 'Drifted');
  return drifted?.status === 'True' ? (parseTimestamp(drifted.lastTransitionTime) ?? 0) : undefined;
}
