import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { interruptionOf } from './interruption-of-claim.ts';

/** Before a machine goes, what fails is tried again so many times, but not faster than this. */
const TRIES = 10;
const SHORTEST_WAIT_MS = 500;

/** How long to wait at most until the next try of something that has to be done by then. */
export function hurryMs(by: number, now: number): number {
  return Math.max(SHORTEST_WAIT_MS, Math.ceil((by - now) / TRIES));
}

/** The same for what is to be done before a claim's machine goes; undefined when nobody says that it does, or it should have gone. */
export function hurryForClaim(claim: NodeClaim | undefined, now: number): number | undefined {
  const deadline = interruptionOf(claim)?.deadline;
  return deadline === undefined || deadline <= now ? undefined : hurryMs(deadline, now);
}
