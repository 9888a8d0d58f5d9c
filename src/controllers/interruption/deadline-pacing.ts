import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { RequestOptions } from '../../kube/client.ts';
import { interruptionOf } from './interruption-of-claim.ts';

/** Failed requests are tried about this often before a deadline, but not faster than this. */
const TRIES = 10;
const SHORTEST_WAIT_MS = 500;
/** The share of the remaining time after which a request times out. */
const ANSWER_SHARE = 1 / 4;
const SHORTEST_ANSWER_MS = 1000;
const LONGEST_ANSWER_MS = 30_000;

/** The longest wait for the next try of something that must be done by a time. */
export function retryWithinMs(by: number, now: number): number {
  return Math.max(SHORTEST_WAIT_MS, Math.ceil((by - now) / TRIES));
}

/** The same for the deadline of an interrupted claim; undefined if it has none or it has passed. */
export function claimRetryWithinMs(claim: NodeClaim | undefined, now: number): number | undefined {
  const deadline = interruptionOf(claim)?.deadline;
  return deadline === undefined || deadline <= now ? undefined : retryWithinMs(deadline, now);
}

/** The timeout of a request that must succeed by a time: one hanging request must not use up all of it. */
export function requestTimeoutMs(by: number, now: number): number {
  return Math.max(SHORTEST_ANSWER_MS, Math.min(LONGEST_ANSWER_MS, (by - now) * ANSWER_SHARE));
}

/** The same for the deadline of an interrupted claim; without one the client's own timeout applies. */
export function claimRequestTimeout(claim: NodeClaim | undefined, now: number): Pick<RequestOptions, 'timeoutMs'> {
  const deadline = interruptionOf(claim)?.deadline;
  return deadline === undefined || deadline <= now ? {} : { timeoutMs: requestTimeoutMs(deadline, now) };
}
