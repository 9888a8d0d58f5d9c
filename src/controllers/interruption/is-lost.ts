import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { interruptionOf, isGone } from './interruption-of-claim.ts';

/** Longer than any cloud warns before it takes a spot machine back. */
const SOON_MS = 5 * 60_000;

/**
 * Whether the cloud has taken the claim's machine, or takes it within minutes, so that it is not worth counting against
 * limits any more. One that is to go next week is, and so is one that should have gone and is still there.
 */
export function isLost(claim: NodeClaim, now: EpochMs): boolean {
  const interruption = interruptionOf(claim);
  if (interruption === undefined || interruption.kind === 'rebalance') return false;
  const { deadline } = interruption;
  return isGone(interruption) || (deadline !== undefined && Math.abs(deadline - now) <= SOON_MS);
}
