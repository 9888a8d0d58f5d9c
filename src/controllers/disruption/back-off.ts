import type { Clock } from '../../platform/clock.ts';

const FIRST_MS = 60_000;
const LONGEST_MS = 600_000;
/** Whoever went well for so long starts from the beginning. */
const FORGOTTEN_MS = 3_600_000;

interface Failures {
  count: number;
  until: number;
}

/** Who failed waits, a minute at first and twice as long each time, up to ten; everybody else goes on. */
export class BackOff {
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It failed; a failure while it waits already is the same one. */
  failed(key: string): void {
    const now = this.#clock.elapsed();
    const known = this.#failures.get(key);
    if (known !== undefined && now < known.until) return;
    const count = known === undefined || now - known.until > FORGOTTEN_MS ? 0 : known.count;
    this.#failures.set(key, { count: count + 1, until: now + Math.min(LONGEST_MS, FIRST_MS * 2 ** count) });
  }

  /** How often it failed without having gone well since. */
  failures(key: string): number {
    return this.#failures.get(key)?.count ?? 0;
  }

  /** How long it has to wait from now on; 0 when it need not. */
  leftMs(key: string): number {
    return Math.max(0, (this.#failures.get(key)?.until ?? 0) - this.#clock.elapsed());
  }

  /** It went well. */
  succeeded(key: string): void {
    this.#failures.delete(key);
  }

  /** Something has changed that may help everybody: all may try again. */
  clear(): void {
    this.#failures.clear();
  }

  /** Forgets those who failed so long ago that it no longer counts. */
  sweep(): void {
    const now = this.#clock.elapsed();
    for (const [key, { until }] of this.#failures) if (now - until > FORGOTTEN_MS) this.#failures.delete(key);
  }
}
