import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { RequestOptions } from '../../kube/client.ts';
import { interruptionOf } from './interruption-of-claim.ts';

/** Before a machine goes, what fails is tried again so many times, but not faster than this. */
const TRIES = 10;
const SHORTEST_WAIT_MS = 500;
/** An API server that does not answer is asked again after this part of what is left. */
const ANSWER_SHARE = 1 / 4;
const SHORTEST_ANSWER_MS = 1000;
const LONGEST_ANSWER_MS = 30_000;

/** How long to wait at most until the next try of something that has to be done by then. */
export function hurryMs(by: number, now: number): number {
  return Math.max(SHORTEST_WAIT_MS, Math.ceil((by - now) / TRIES));
}

/** The same for what is to be done before a claim's machine goes; undefined when nobody says that it does, or it should have gone. */
export function hurryForClaim(claim: NodeClaim | undefined, now: number): number | undefined {
  const deadline = interruptionOf(claim)?.deadline;
  return deadline === undefined || deadline <= now ? undefined : hurryMs(deadline, now);
}

/** How long to wait at most for the answer to a request that has to succeed by then: one that hangs must not cost all that is left. */
export function answerMs(by: number, now: number): number {
  return Math.max(SHORTEST_ANSWER_MS, Math.min(LONGEST_ANSWER_MS, (by - now) * ANSWER_SHARE));
}

/** The same for a request on the way of a claim whose machine goes; the client's own limit where nobody says that it does. */
export function answerForClaim(claim: NodeClaim | undefined, now: number): Pick<RequestOptions, 'timeoutMs'> {
  const deadline = interruptionOf(claim)?.deadline;
  return deadline === undefined || deadline <= now ? {} : { timeoutMs: answerMs(deadline, now) };
}
