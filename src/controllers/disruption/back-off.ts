import type { Clock } from '../../platform/clock.ts';

const FIRST_MS = 60_000;
const LONGEST_MS = 600_000;
/** A key without a failure for this long starts again with the first wait. */
const FORGOTTEN_MS = 3_600_000;

interface Failures {
  count: number;
  until: number;
}

/** Waits per key after failures: one minute, doubled with each failure up to ten. Other keys do not wait. */
export class BackOff {
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records a failure. A failure while the key still waits counts as the same one. */
  failed(key: string): void {
    const now = this.#clock.elapsed();
    const known = this.#failures.get(key);
    if (known !== undefined && now < known.until) return;
    const count = known === undefined || now - known.until > FORGOTTEN_MS ? 0 : known.count;
    this.#failures.set(key, { count: count + 1, until: now + Math.min(LONGEST_MS, FIRST_MS * 2 ** count) });
  }

  /** Failures since the last success. */
  failures(key: string): number {
    return this.#failures.get(key)?.count ?? 0;
  }

  /** How long the key still has to wait; 0 means not at all. */
  leftMs(key: string): number {
    return Math.max(0, (this.#failures.get(key)?.until ?? 0) - this.#clock.elapsed());
  }

  /** Records a success, which forgets all failures of the key. */
  succeeded(key: string): void {
    this.#failures.delete(key);
  }

  /** Lets all keys try again, because something has changed that may help any of them. */
  clear(): void {
    this.#failures.clear();
  }

  /** Drops failures that are too old to count. */
  sweep(): void {
    const now = this.#clock.elapsed();
    for (const [key, { until }] of this.#failures) if (now - until > FORGOTTEN_MS) this.#failures.delete(key);
  }
}
