import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { interruptionOf, isGone } from './interruption-of-claim.ts';

/** Longer than any cloud's spot warning. */
const SOON_MS = 5 * 60_000;

/**
 * Whether the claim's machine is gone or is taken away within minutes, so that it no longer counts against limits. A machine with a later
 * deadline counts, and so does one that still exists minutes after its deadline.
 */
export function isLost(claim: NodeClaim, now: EpochMs): boolean {
  const interruption = interruptionOf(claim);
  if (interruption === undefined || interruption.kind === 'rebalance') return false;
  const { deadline } = interruption;
  return isGone(interruption) || (deadline !== undefined && Math.abs(deadline - now) <= SOON_MS);
}
