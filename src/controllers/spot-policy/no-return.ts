import { NEVER } from '../../apis/karpenter/duration.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { SpotPolicy } from '../../apis/spindrift/spot-policy.ts';

/**
 * Why fallbacks of a NodePool stay on demand although its policy gives them a time to return, which nobody may have meant;
 * undefined where they return, or where the policy says that they do not.
 */
export function noReturn(
  { spec: { returnToSpot } }: SpotPolicy,
  { spec: { disruption } }: NodePool,
): string | undefined {
  if (returnToSpot.after === NEVER) return undefined;
  if (Number.parseInt(returnToSpot.budget, 10) === 0) return `returnToSpot.budget is ${returnToSpot.budget}`;
  // It is consolidation that exchanges them.
  if (disruption.consolidateAfter === NEVER) return `its consolidateAfter is ${NEVER}`;
  return disruption.consolidationPolicy === 'WhenEmpty' ? 'its consolidationPolicy is WhenEmpty' : undefined;
}
