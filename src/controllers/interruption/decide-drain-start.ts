/** Decides when the drain of an interrupted node begins. Pure. */
import type { ClaimInterruption } from './interruption-of-claim.ts';
import { isGone } from './interruption-of-claim.ts';

/** The facts about an interrupted node. */
export interface DrainFacts {
  readonly interruption: ClaimInterruption;
  readonly now: number;
  /** Whether it runs pods that need another node. */
  readonly displaced: boolean;
  /** Whether a provisioning round has handled these pods. */
  readonly covered: boolean;
  /** Whether the nodes for all of them are ready. */
  readonly placesUp: boolean;
  /** Whether services that keep replicas ready have enough of them on other nodes. Default true. */
  readonly servedElsewhere?: boolean;
  /** A drain that begins later must shorten the grace period of a pod. */
  readonly latestStart: number;
  /** How long ago the claim was first seen, by the clock's `elapsed`. */
  readonly waitedMs: number;
}

/** Drain the node, drop the interruption, or decide again at a time. */
export type DrainStart =
  | { readonly kind: 'drain'; readonly because: string }
  | { readonly kind: 'drop'; readonly because: string }
  | { readonly kind: 'wait'; readonly until: number };

/** The longest and the shortest wait for a provisioning round after the drain should have begun. */
const PATIENCE_MS = 5000;
const LEAST_PATIENCE_MS = 1500;
/** The wait for other nodes if there is no deadline: longer than any claim may take to come up. */
const LONGEST_WAIT_MS = 60 * 60_000;

export function decideDrainStart(facts: DrainFacts): DrainStart {
  const { interruption, now, displaced, covered, placesUp, servedElsewhere = true, latestStart, waitedMs } = facts;
  const { deadline } = interruption;
  if (isGone(interruption)) return { kind: 'drain', because: 'the machine is gone' };
  if (!displaced) return { kind: 'drain', because: 'no pod needs another node' };
  if (covered && placesUp && servedElsewhere) return { kind: 'drain', because: 'other nodes are ready for its pods' };
  if (deadline === undefined) return withoutDeadline(facts);
  if (covered)
    return now >= latestStart
      ? { kind: 'drain', because: 'pods need the time that is left' }
      : { kind: 'wait', until: latestStart };
  const seenAt = now - waitedMs;
  const patience = Math.max(LEAST_PATIENCE_MS, Math.min(PATIENCE_MS, Math.floor((deadline - seenAt) / 4)));
  const until = Math.max(latestStart, seenAt + patience);
  return now >= until
    ? { kind: 'drain', because: 'pods need the time that is left, although no other node has been found for them yet' }
    : { kind: 'wait', until };
}

/**
 * Until when other nodes are waited for if there is no deadline. The wait starts when we received the notice, not when the cloud sent it: no
 * node was searched for before.
 */
export function waitsUntil({
  interruption,
  now,
  waitedMs,
}: Pick<DrainFacts, 'interruption' | 'now' | 'waitedMs'>): number {
  const seenAt = now - waitedMs;
  return Math.min(interruption.heardAt ?? interruption.at ?? seenAt, seenAt) + LONGEST_WAIT_MS;
}

/**
 * After the wait, a machine that its cloud will end is drained anyway. One that may stay is kept: its pods would have no node at all, and a
 * notice with a deadline follows if it is taken after all.
 */
function withoutDeadline(facts: DrainFacts): DrainStart {
  const { now, waitedMs, covered } = facts;
  // However late it is, one provisioning round looks for other nodes before the drain.
  const until = Math.max(waitsUntil(facts), covered ? 0 : now - waitedMs + PATIENCE_MS);
  if (now < until) return { kind: 'wait', until };
  if (facts.interruption.kind === 'rebalance')
    return {
      kind: 'drop',
      because: 'no other node was ready for its pods within an hour, and the machine may yet stay',
    };
  return {
    kind: 'drain',
    because: 'no other node was ready for its pods within an hour, and the cloud will end the machine',
  };
}
