/**
 * Offerings that failed or were preempted, kept out of the market for a while. Launches and notices write it; every list
 * of offerings reads it. All NodePools share what is known of when an offering went; each does not try it for as long as its own
 * settings say at the moment in which it asks. So one that is patient keeps no other waiting, and settings that are put
 * right hold at once. It is memory only: after a restart the claims of machines that were taken back, and the first
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

/**
 * What took an offering out of the market: a launch found it empty, a quota of the account is used up, its price is above
 * what may be paid, the cloud does not have it in this shape, a permission is missing, or a machine of it was taken back.
 */
export type UnavailabilityCause = 'capacity' | 'quota' | 'price' | 'unsupported' | 'denied' | 'notice';

/** An offering that is taken out of the market, as listeners hear of it. */
export interface Mark {
  readonly offering: OfferingName;
  readonly reason: string;
  readonly cause: UnavailabilityCause;
}

export interface MarkOptions {
  readonly cause?: UnavailabilityCause;
  /** The NodePool whose machine it was, or was to be. */
  readonly pool?: string;
  /** Since when it has been out, where that is not now. */
  readonly since?: EpochMs;
}

export interface UnavailableOfferingsOptions {
  readonly clock: Clock;
  /** For how long a NodePool does not try an offering, as it is now; undefined where it is not known who asks. */
  readonly ttlMs?: (pool: string | undefined) => number;
  /** How many offerings are remembered; what was marked longest ago is forgotten first. Default 10 000. */
  readonly most?: number;
}

interface Entry {
  readonly offering: OfferingName;
  readonly reason: string;
  /** By the clock that never goes back. */
  readonly wentAt: number;
}

const DEFAULT_TTL_MS = 180_000;

export class UnavailableOfferings {
  readonly #clock: Clock;
  readonly #ttlMs: (pool: string | undefined) => number;
  readonly #most: number;
  /** In the order in which they were last marked. */
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<(mark: Mark) => void>();
  /** By how long offerings are not tried; until when they hold while nothing is marked. */
  readonly #stamps = new Map<number, { readonly stamp: string; readonly until: number }>();

  constructor(options: UnavailableOfferingsOptions) {
    this.#clock = options.clock;
    this.#ttlMs = options.ttlMs ?? (() => DEFAULT_TTL_MS);
    this.#most = options.most ?? 10_000;
  }

  /** Takes an offering out of the market; marking it again lengthens its absence, and never shortens it. */
  mark(offering: OfferingName, reason: string, { cause = 'capacity', pool, since }: MarkOptions = {}): void {
    const wasOut = this.has(offering, pool);
    // Another clock than ours may be ahead.
    const wentAt = this.#clock.elapsed() - Math.max(0, this.#clock.now() - (since ?? this.#clock.now()));
    const key = offeringKey(offering);
    if ((this.#entries.get(key)?.wentAt ?? Number.NEGATIVE_INFINITY) >= wentAt) return;
    this.#entries.delete(key);
    this.#entries.set(key, { offering, reason, wentAt });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#most && oldest !== undefined) this.#entries.delete(oldest);
    this.#stamps.clear();
    if (wasOut || !this.has(offering, pool)) return;
    for (const listener of this.#listeners) listener({ offering, reason, cause });
  }

  /** Lets an offering back into the market before its time. */
  restore(offering: OfferingName): void {
    if (this.#entries.delete(offeringKey(offering))) this.#stamps.clear();
  }

  /** Whether a NodePool is not to try an offering now. */
  has(offering: OfferingName, pool?: string): boolean {
    const entry = this.#entries.size > 0 ? this.#entries.get(offeringKey(offering)) : undefined;
    return entry !== undefined && this.#clock.elapsed() < entry.wentAt + this.#ttlMs(pool);
  }

  /** Tells what a NodePool is not to try now from all else that it could be: who has read at this stamp need not read again. */
  stamp(pool?: string): string {
    const ttlMs = this.#ttlMs(pool);
    const now = this.#clock.elapsed();
    const known = this.#stamps.get(ttlMs);
    if (known !== undefined && now < known.until) return known.stamp;
    const out = [...this.#entries].filter(([, { wentAt }]) => now < wentAt + ttlMs);
    const until = out.reduce((first, [, { wentAt }]) => Math.min(first, wentAt + ttlMs), Number.POSITIVE_INFINITY);
    const stamp = out
      .map(([key]) => key)
      .sort()
      .join();
    this.#stamps.set(ttlMs, { stamp, until });
    return stamp;
  }

  /**
   * Calls back whenever an offering goes out of the market for the NodePool that found it so; not when it is marked again
   * while it is out, as those who tried it together have all found the same. Call the result to stop.
   */
  onMark(listener: (mark: Mark) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** All that is out of the market for a NodePool now, in the order in which it was marked. */
  list(pool?: string): readonly Unavailability[] {
    const ttlMs = this.#ttlMs(pool);
    return [...this.#entries.values()].flatMap(({ offering, reason, wentAt }) => {
      const leftMs = wentAt + ttlMs - this.#clock.elapsed();
      return leftMs > 0 ? [{ offering, reason, until: (this.#clock.now() + leftMs) as EpochMs }] : [];
    });
  }
}
