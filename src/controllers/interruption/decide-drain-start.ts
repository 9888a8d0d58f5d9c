/** Whether the drain of an interrupted node begins. Pure. */
import type { ClaimInterruption } from './interruption-of-claim.ts';
import { isGone } from './interruption-of-claim.ts';

/** How things stand with an interrupted node. */
export interface DrainFacts {
  readonly interruption: ClaimInterruption;
  readonly now: number;
  /** Whether pods run on it that need another place. */
  readonly displaced: boolean;
  /** Another place for them has been found, or asked for. */
  readonly covered: boolean;
  /** That place is there, for all of them. */
  readonly placesUp: boolean;
  /** Services that keep so many replicas ready have them ready elsewhere. Default true. */
  readonly servedElsewhere?: boolean;
  /** A drain that begins later has to shorten somebody's grace period. */
  readonly latestStart: number;
  /** How long ago we first looked at the claim, by the clock that never goes back. */
  readonly waitedMs: number;
}

/** Drain because of this, forget it because of this, or look again then. */
export type DrainStart =
  | { readonly kind: 'drain'; readonly because: string }
  | { readonly kind: 'drop'; readonly because: string }
  | { readonly kind: 'wait'; readonly until: number };

/** How long an answer of provisioning is worth waiting for although the drain should begin; a moment it always is. */
const PATIENCE_MS = 5000;
const LEAST_PATIENCE_MS = 1500;
/** How long other places are waited for where nobody says when the machine goes: longer than any claim may take to come up. */
const LONGEST_WAIT_MS = 60 * 60_000;

export function decideDrainStart(facts: DrainFacts): DrainStart {
  const { interruption, now, displaced, covered, placesUp, servedElsewhere = true, latestStart, waitedMs } = facts;
  const { deadline } = interruption;
  if (isGone(interruption)) return { kind: 'drain', because: 'the machine is gone' };
  if (!displaced) return { kind: 'drain', because: 'no pod needs another place' };
  if (covered && placesUp && servedElsewhere) return { kind: 'drain', because: 'the other places are ready' };
  if (deadline === undefined) return withoutDeadline(facts);
  if (covered)
    return now >= latestStart
      ? { kind: 'drain', because: 'pods need the time that is left' }
      : { kind: 'wait', until: latestStart };
  const seenAt = now - waitedMs;
  const patience = Math.max(LEAST_PATIENCE_MS, Math.min(PATIENCE_MS, Math.floor((deadline - seenAt) / 4)));
  const until = Math.max(latestStart, seenAt + patience);
  return now >= until
    ? { kind: 'drain', because: 'pods need the time that is left, although no other place has been found yet' }
    : { kind: 'wait', until };
}

/**
 * When other places are no longer waited for, where the cloud does not say when the machine goes. Before we heard of it
 * nobody looked for any: what was said while nobody listened has its time all the same.
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
 * A machine that its cloud ends some day is better left in good order than lost. One that may stay is not: pods would be
 * sent away from a node that runs to none at all, and if it is taken after all that is said with a deadline.
 */
function withoutDeadline(facts: DrainFacts): DrainStart {
  const { now, waitedMs, covered } = facts;
  // However late it is, other places are asked for before anybody is sent away.
  const until = Math.max(waitsUntil(facts), covered ? 0 : now - waitedMs + PATIENCE_MS);
  if (now < until) return { kind: 'wait', until };
  if (facts.interruption.kind === 'rebalance')
    return { kind: 'drop', because: 'no other places for its pods came up within an hour, and it may yet stay' };
  return { kind: 'drain', because: 'no other places for its pods came up within an hour, and it will be ended' };
}
