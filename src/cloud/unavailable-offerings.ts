/**
 * Offerings that failed or were preempted, kept out of the market for a while. Launches and notices write it; every list
 * of offerings reads it. It is memory only: after a restart the claims of machines that were taken back, and the first
 * launch that fails, write it anew.
 */
import type { Clock, EpochMs } from '../platform/clock.ts';
import { type OfferingName, offeringKey } from './offering-key.ts';

/** Why an offering is out of the market, and until when. */
export interface Unavailability {
  readonly offering: OfferingName;
  readonly reason: string;
  readonly until: EpochMs;
}

/** What took an offering out of the market: a launch found it empty, a quota is used up, or a machine of it was taken back. */
export type UnavailabilityCause = 'launch' | 'quota' | 'notice';

/** An offering that is taken out of the market, as listeners hear of it. */
export interface Mark {
  readonly offering: OfferingName;
  readonly reason: string;
  readonly cause: UnavailabilityCause;
}

export interface MarkOptions {
  readonly cause?: UnavailabilityCause;
  /** The NodePool whose machine it was, or was to be: its policy says for how long. */
  readonly pool?: string;
  /** Since when it has been out, where that is not now. */
  readonly since?: EpochMs;
}

export interface UnavailableOfferingsOptions {
  readonly clock: Clock;
  /** How long an offering stays out, by the NodePool that found it so; undefined where that is not known. */
  readonly ttlMs?: (pool: string | undefined) => number;
}

interface Entry extends Unavailability {
  /** By the clock that never goes back. */
  readonly expires: number;
}

const DEFAULT_TTL_MS = 180_000;

export class UnavailableOfferings {
  readonly #clock: Clock;
  readonly #ttlMs: (pool: string | undefined) => number;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<(mark: Mark) => void>();
  #sequence = 0;
  #nextExpiry = Number.POSITIVE_INFINITY;

  constructor(options: UnavailableOfferingsOptions) {
    this.#clock = options.clock;
    this.#ttlMs = options.ttlMs ?? (() => DEFAULT_TTL_MS);
  }

  /** Rises whenever the set of unavailable offerings changes: who has read at this number need not read again. */
  get sequence(): number {
    this.#expire();
    return this.#sequence;
  }

  /** Takes an offering out of the market; marking it again lengthens its absence, and never shortens it. */
  mark(offering: OfferingName, reason: string, { cause = 'launch', pool, since }: MarkOptions = {}): void {
    this.#expire();
    // Another clock than ours may be ahead.
    const ttlMs = this.#ttlMs(pool) - Math.max(0, this.#clock.now() - (since ?? this.#clock.now()));
    if (ttlMs <= 0) return;
    const key = offeringKey(offering);
    const expires = this.#clock.elapsed() + ttlMs;
    const known = this.#entries.get(key);
    if (known !== undefined && known.expires >= expires) return;
    if (known === undefined) {
      this.#sequence++;
      for (const listener of this.#listeners) listener({ offering, reason, cause });
    }
    const until = (this.#clock.now() + ttlMs) as EpochMs;
    this.#entries.set(key, { offering, reason, until, expires });
    this.#nextExpiry = Math.min(this.#nextExpiry, expires);
  }

  /** Lets an offering back into the market before its time. */
  restore(offering: OfferingName): void {
    if (this.#entries.delete(offeringKey(offering))) this.#sequence++;
  }

  has(offering: OfferingName): boolean {
    this.#expire();
    return this.#entries.size > 0 && this.#entries.has(offeringKey(offering));
  }

  /**
   * Calls back whenever an offering goes out of the market; not when it is marked again while it is out, as those who tried it
   * together have all found the same. Call the result to stop.
   */
  onMark(listener: (mark: Mark) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** All that is out of the market now, in the order in which it went. */
  list(): readonly Unavailability[] {
    this.#expire();
    return [...this.#entries.values()].map(({ offering, reason, until }) => ({ offering, reason, until }));
  }

  #expire(): void {
    const now = this.#clock.elapsed();
    if (now < this.#nextExpiry) return;
    this.#nextExpiry = Number.POSITIVE_INFINITY;
    for (const [key, { expires }] of this.#entries) {
      if (expires > now) this.#nextExpiry = Math.min(this.#nextExpiry, expires);
      else {
        this.#entries.delete(key);
        this.#sequence++;
      }
    }
  }
}
