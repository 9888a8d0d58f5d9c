/**
 * Offerings that failed or were preempted, kept out of the market for a while. Launches and notices write it; every list
 * of offerings reads it. All NodePools share what is known of when an offering went; each does not try it for as long as its own
 * settings say at the moment in which it asks. So one that is patient keeps no other waiting, and settings that are put
 * right hold at once. It is memory only: after a restart the claims of machines that were taken back, and the first
 * launch that fails, write it anew.
 */
import type { Clock, EpochMs } from '../platform/clock.ts';
import { matches, namesOne, type OfferingName, type OfferingPattern, offeringKey, patternKey } from './offering-key.ts';

/** Why offerings are out of the market, and until when. */
export interface Unavailability {
  readonly offering: OfferingPattern;
  readonly reason: string;
  readonly until: EpochMs;
}

/**
 * What took an offering out of the market: a launch found it empty, a quota of the account is used up, its price is above
 * what may be paid, the cloud does not have it in this shape, a permission is missing, or a machine of it was taken back.
 */
export type UnavailabilityCause = 'capacity' | 'quota' | 'price' | 'unsupported' | 'denied' | 'notice';

/** Offerings that are taken out of the market, as listeners hear of it. */
export interface Mark {
  readonly offering: OfferingPattern;
  readonly reason: string;
  readonly cause: UnavailabilityCause;
}

export interface MarkOptions {
  readonly cause?: UnavailabilityCause;
  /** The NodePool whose machine it was, or was to be. */
  readonly pool?: string;
  /** Since when it has been out, where that is not now. */
  readonly since?: EpochMs;
  /** For how long it stays out for every NodePool, where the cloud or the cause says so. */
  readonly forMs?: number;
}

/** How long these causes last whatever a policy says: waiting for capacity is of no use against them. */
const LASTING_MS: Partial<Record<UnavailabilityCause, number>> = {
  quota: 10 * 60_000,
  unsupported: 60 * 60_000,
  denied: 5 * 60_000,
};

export interface UnavailableOfferingsOptions {
  readonly clock: Clock;
  /** For how long a NodePool does not try an offering, as it is now; undefined where it is not known who asks. */
  readonly ttlMs?: (pool: string | undefined) => number;
  /** How many offerings are remembered; what was marked longest ago is forgotten first. Default 10 000. */
  readonly most?: number;
}

interface Entry {
  readonly offering: OfferingPattern;
  readonly reason: string;
  /** By the clock that never goes back. */
  readonly wentAt: number;
  readonly forMs: number | undefined;
}

const DEFAULT_TTL_MS = 180_000;

export class UnavailableOfferings {
  readonly #clock: Clock;
  readonly #ttlMs: (pool: string | undefined) => number;
  readonly #most: number;
  /** In the order in which they were last marked. */
  readonly #entries = new Map<string, Entry>();
  /** Those of them that mean more than one offering; few, if any. */
  readonly #wide = new Set<Entry>();
  readonly #listeners = new Set<(mark: Mark) => void>();
  /** By how long offerings are not tried, and where; until when they hold while nothing is marked. */
  readonly #stamps = new Map<string, { readonly stamp: string; readonly until: number }>();

  constructor(options: UnavailableOfferingsOptions) {
    this.#clock = options.clock;
    this.#ttlMs = options.ttlMs ?? (() => DEFAULT_TTL_MS);
    this.#most = options.most ?? 10_000;
  }

  /** Takes offerings out of the market; marking them again lengthens their absence, and never shortens it. */
  mark(offering: OfferingPattern, reason: string, { cause = 'capacity', pool, since, forMs }: MarkOptions = {}): void {
    const key = patternKey(offering);
    const before = this.#entries.get(key);
    const wasOut = before !== undefined && this.#isOut(before, pool);
    // Another clock than ours may be ahead.
    const wentAt = this.#clock.elapsed() - Math.max(0, this.#clock.now() - (since ?? this.#clock.now()));
    if ((before?.wentAt ?? Number.NEGATIVE_INFINITY) >= wentAt) return;
    const entry = { offering, reason, wentAt, forMs: forMs ?? LASTING_MS[cause] };
    this.#forget(key);
    this.#entries.set(key, entry);
    if (!namesOne(offering)) this.#wide.add(entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#most && oldest !== undefined) this.#forget(oldest);
    this.#stamps.clear();
    if (wasOut || !this.#isOut(entry, pool)) return;
    for (const listener of this.#listeners) listener({ offering, reason, cause });
  }

  /** Lets offerings back into the market before their time. */
  restore(offering: OfferingPattern): void {
    if (this.#forget(patternKey(offering))) this.#stamps.clear();
  }

  /** Whether a NodePool is not to try an offering now. */
  has(offering: OfferingName, pool?: string): boolean {
    if (this.#entries.size === 0) return false;
    const entry = this.#entries.get(offeringKey(offering));
    if (entry !== undefined && this.#isOut(entry, pool)) return true;
    for (const wide of this.#wide) if (matches(wide.offering, offering) && this.#isOut(wide, pool)) return true;
    return false;
  }

  /**
   * Tells what a NodePool is not to try now in a scope from all else that it could be: who has read at this stamp need not
   * read again.
   */
  stamp(pool?: string, scope?: string): string {
    const ttlMs = this.#ttlMs(pool);
    const now = this.#clock.elapsed();
    const reader = `${ttlMs} ${scope}`;
    const known = this.#stamps.get(reader);
    if (known !== undefined && now < known.until) return known.stamp;
    const out = [...this.#entries].filter(
      ([, { offering, wentAt, forMs = ttlMs }]) =>
        (scope === undefined || offering.scope === scope) && now < wentAt + forMs,
    );
    const until = out.reduce(
      (first, [, { wentAt, forMs = ttlMs }]) => Math.min(first, wentAt + forMs),
      Number.POSITIVE_INFINITY,
    );
    const stamp = out
      .map(([key]) => key)
      .sort()
      .join();
    this.#stamps.set(reader, { stamp, until });
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
    return [...this.#entries.values()].flatMap(({ offering, reason, wentAt, forMs = ttlMs }) => {
      const leftMs = wentAt + forMs - this.#clock.elapsed();
      return leftMs > 0 ? [{ offering, reason, until: (this.#clock.now() + leftMs) as EpochMs }] : [];
    });
  }

  #isOut({ wentAt, forMs }: Entry, pool: string | undefined): boolean {
    return this.#clock.elapsed() < wentAt + (forMs ?? this.#ttlMs(pool));
  }

  #forget(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#wide.delete(entry);
    return this.#entries.delete(key);
  }
}
