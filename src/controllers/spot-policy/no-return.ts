import { NEVER } from '../../apis/karpenter/duration.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { SpotPolicy } from '../../apis/spindrift/spot-policy.ts';

/**
 * Why fallback nodes of a NodePool stay on-demand although its SpotPolicy has `returnToSpot.after`; undefined if they return, or if the
 * policy says Never.
 */
export function noReturn(
  { spec: { returnToSpot } }: SpotPolicy,
  { spec: { disruption } }: NodePool,
): string | undefined {
  if (returnToSpot.after === NEVER) return undefined;
  if (Number.parseInt(returnToSpot.budget, 10) === 0) return `returnToSpot.budget is ${returnToSpot.budget}`;
  // Consolidation replaces them.
  if (disruption.consolidateAfter === NEVER) return `its consolidateAfter is ${NEVER}`;
  return disruption.consolidationPolicy === 'WhenEmpty' ? 'its consolidationPolicy is WhenEmpty' : undefined;
}
