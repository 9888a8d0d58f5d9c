/**
 * Offerings that are unavailable for a while, because a launch was refused or a machine was interrupted. All NodePools share
 * the time at which an offering became unavailable. How long it then stays unavailable is read from the NodePool's settings
 * on every question, so pools may differ and a changed setting holds at once. Kept in memory only: after a restart it is
 * filled again by the claims of interrupted machines and by the first refused launches.
 */
import type { Clock, EpochMs } from '../platform/clock.ts';
import { matches, namesOne, type OfferingName, type OfferingPattern, offeringKey, patternKey } from './offering-key.ts';

/** Why offerings are unavailable, and until when. */
export interface Unavailability {
  readonly offering: OfferingPattern;
  readonly reason: string;
  readonly until: EpochMs;
}

/**
 * Why an offering is unavailable: no capacity, quota of the account used up, price above the maximum, not supported as
 * requested, permission denied, or one of its machines was interrupted.
 */
export type UnavailabilityCause = 'capacity' | 'quota' | 'price' | 'unsupported' | 'denied' | 'notice';

/** Offerings that have become unavailable, as listeners are told. */
export interface Mark {
  readonly offering: OfferingPattern;
  readonly reason: string;
  readonly cause: UnavailabilityCause;
}

export interface MarkOptions {
  readonly cause?: UnavailabilityCause;
  /** The NodePool of the machine that was refused or interrupted. */
  readonly pool?: string;
  /** When it became unavailable. Default: now. */
  readonly since?: EpochMs;
  /** How long it stays unavailable, for every NodePool. Default: by cause, else as the NodePool's settings say. */
  readonly forMs?: number;
}

/** Durations that no policy changes, because these causes have nothing to do with capacity. */
const LASTING_MS: Partial<Record<UnavailabilityCause, number>> = {
  quota: 10 * 60_000,
  unsupported: 60 * 60_000,
  denied: 5 * 60_000,
};

export interface UnavailableOfferingsOptions {
  readonly clock: Clock;
  /** How long offerings stay unavailable for a NodePool by its current settings. The pool is undefined if it is unknown. */
  readonly ttlMs?: (pool: string | undefined) => number;
  /** How many offerings are remembered. The oldest mark is forgotten first. Default 10 000. */
  readonly most?: number;
}

interface Entry {
  readonly offering: OfferingPattern;
  readonly reason: string;
  /** By `clock.elapsed()`. */
  readonly wentAt: number;
  readonly forMs: number | undefined;
}

const DEFAULT_TTL_MS = 180_000;

export class UnavailableOfferings {
  readonly #clock: Clock;
  readonly #ttlMs: (pool: string | undefined) => number;
  readonly #most: number;
  /** Least recently marked first. */
  readonly #entries = new Map<string, Entry>();
  /** The entries that cover more than one offering. There are few of them. */
  readonly #wide = new Set<Entry>();
  readonly #listeners = new Set<(mark: Mark) => void>();
  /** By duration and scope. A stamp is valid until its time or the next mark. */
  readonly #stamps = new Map<string, { readonly stamp: string; readonly until: number }>();

  constructor(options: UnavailableOfferingsOptions) {
    this.#clock = options.clock;
    this.#ttlMs = options.ttlMs ?? (() => DEFAULT_TTL_MS);
    this.#most = options.most ?? 10_000;
  }

  /** Makes offerings unavailable. Marking them again may lengthen that, and never shortens it. */
  mark(offering: OfferingPattern, reason: string, { cause = 'capacity', pool, since, forMs }: MarkOptions = {}): void {
    const key = patternKey(offering);
    const before = this.#entries.get(key);
    const wasOut = before !== undefined && this.#isOut(before, pool);
    // A time in the future, by another machine's clock, counts as now.
    const wentAt = this.#clock.elapsed() - Math.max(0, this.#clock.now() - (since ?? this.#clock.now()));
    const entry = { offering, reason, wentAt, forMs: forMs ?? LASTING_MS[cause] };
    if (before !== undefined && this.#until(before, pool) >= this.#until(entry, pool)) return;
    this.#forget(key);
    this.#entries.set(key, entry);
    if (!namesOne(offering)) this.#wide.add(entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#most && oldest !== undefined) this.#forget(oldest);
    this.#stamps.clear();
    if (wasOut || !this.#isOut(entry, pool)) return;
    for (const listener of this.#listeners) listener({ offering, reason, cause });
  }

  /** Makes offerings available again before their time. */
  restore(offering: OfferingPattern): void {
    if (this.#forget(patternKey(offering))) this.#stamps.clear();
  }

  /** Whether an offering is unavailable for a NodePool now. */
  has(offering: OfferingName, pool?: string): boolean {
    if (this.#entries.size === 0) return false;
    const entry = this.#entries.get(offeringKey(offering));
    if (entry !== undefined && this.#isOut(entry, pool)) return true;
    for (const wide of this.#wide) if (matches(wide.offering, offering) && this.#isOut(wide, pool)) return true;
    return false;
  }

  /** Identifies the set of offerings that are unavailable for a NodePool in a scope: equal stamps mean equal sets. */
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
   * Calls back when an offering becomes unavailable for the NodePool that found it so, and not when it is marked again while
   * it is unavailable: launches that ran at the same time all report the same. Returns a function that stops it.
   */
  onMark(listener: (mark: Mark) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** All offerings that are unavailable for a NodePool now, least recently marked first. */
  list(pool?: string): readonly Unavailability[] {
    const ttlMs = this.#ttlMs(pool);
    return [...this.#entries.values()].flatMap(({ offering, reason, wentAt, forMs = ttlMs }) => {
      const leftMs = wentAt + forMs - this.#clock.elapsed();
      return leftMs > 0 ? [{ offering, reason, until: (this.#clock.now() + leftMs) as EpochMs }] : [];
    });
  }

  #isOut(entry: Entry, pool: string | undefined): boolean {
    return this.#clock.elapsed() < this.#until(entry, pool);
  }

  #until({ wentAt, forMs }: Entry, pool: string | undefined): number {
    return wentAt + (forMs ?? this.#ttlMs(pool));
  }

  #forget(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#wide.delete(entry);
    return this.#entries.delete(key);
  }
}
