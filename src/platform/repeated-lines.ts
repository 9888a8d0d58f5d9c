/** Keeps a log readable while something goes wrong again and again: the same is said at once, and then ever more seldom. */
import type { Clock } from './clock.ts';

export interface RepeatedLinesOptions {
  readonly clock: Clock;
  /** How long the same is not said again after the first time; twice as long after each further time. */
  readonly firstMs?: number;
  readonly longestMs?: number;
}

interface Line {
  readonly saidAt: number;
  readonly quietMs: number;
  leftOut: number;
}

/** So many are remembered: the oldest goes first. */
const REMEMBERED = 1000;

export class RepeatedLines {
  readonly #options: Required<RepeatedLinesOptions>;
  readonly #lines = new Map<string, Line>();

  constructor(options: RepeatedLinesOptions) {
    this.#options = { firstMs: 60_000, longestMs: 600_000, ...options };
  }

  /** How often it was left out since it was last said; undefined when it is to be left out now. */
  say(key: string): number | undefined {
    const { clock, firstMs, longestMs } = this.#options;
    const now = clock.elapsed();
    const known = this.#lines.get(key);
    if (known !== undefined && now - known.saidAt < known.quietMs) {
      known.leftOut++;
      return undefined;
    }
    // What comes back after a long time is news.
    const again = known !== undefined && now - known.saidAt < 4 * known.quietMs;
    const quietMs = again ? Math.min(longestMs, known.quietMs * 2) : firstMs;
    this.#lines.delete(key);
    this.#lines.set(key, { saidAt: now, quietMs, leftOut: 0 });
    const oldest = this.#lines.size > REMEMBERED ? this.#lines.keys().next().value : undefined;
    if (oldest !== undefined) this.#lines.delete(oldest);
    return known?.leftOut ?? 0;
  }
}
