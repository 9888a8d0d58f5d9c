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
  /** A drain that begins later has to shorten somebody's grace period. */
  readonly latestStart: number;
  /** When we first looked at the claim. */
  readonly seenAt: number;
}

/** Drain because of this, or look again then (infinity: when something happens). */
export type DrainStart =
  | { readonly kind: 'drain'; readonly because: string }
  | { readonly kind: 'wait'; readonly until: number };

/** How long an answer of provisioning is worth waiting for although the drain should begin; a moment it always is. */
const PATIENCE_MS = 5000;
const LEAST_PATIENCE_MS = 1500;

export function decideDrainStart(facts: DrainFacts): DrainStart {
  const { interruption, now, displaced, covered, placesUp, latestStart, seenAt } = facts;
  const { deadline } = interruption;
  if (isGone(interruption)) return { kind: 'drain', because: 'the machine is gone' };
  if (!displaced) return { kind: 'drain', because: 'no pod needs another place' };
  if (covered && placesUp) return { kind: 'drain', because: 'the other places are ready' };
  if (deadline === undefined) return { kind: 'wait', until: Number.POSITIVE_INFINITY };
  if (covered)
    return now >= latestStart
      ? { kind: 'drain', because: 'pods need the time that is left' }
      : { kind: 'wait', until: latestStart };
  const patience = Math.max(LEAST_PATIENCE_MS, Math.min(PATIENCE_MS, Math.floor((deadline - seenAt) / 4)));
  const until = Math.max(latestStart, seenAt + patience);
  return now >= until
    ? { kind: 'drain', because: 'pods need the time that is left, although no other place has been found yet' }
    : { kind: 'wait', until };
}
