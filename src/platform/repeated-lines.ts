/** Throttles repeated log lines: the first is logged at once, the following ones ever more seldom. */
import type { Clock } from './clock.ts';

export interface RepeatedLinesOptions {
  readonly clock: Clock;
  /** How long a line is suppressed after the first time; doubles with each further time. */
  readonly firstMs?: number;
  readonly longestMs?: number;
}

interface Line {
  readonly saidAt: number;
  readonly quietMs: number;
  leftOut: number;
}

/** The number of remembered lines; the oldest is forgotten first. */
const REMEMBERED = 1000;

export class RepeatedLines {
  readonly #options: Required<RepeatedLinesOptions>;
  readonly #lines = new Map<string, Line>();

  constructor(options: RepeatedLinesOptions) {
    this.#options = { firstMs: 60_000, longestMs: 600_000, ...options };
  }

  /** How often the line was suppressed since it was last logged; undefined when it must be suppressed now. */
  say(key: string): number | undefined {
    const { clock, firstMs, longestMs } = this.#options;
    const now = clock.elapsed();
    const known = this.#lines.get(key);
    if (known !== undefined && now - known.saidAt < known.quietMs) {
      known.leftOut++;
      return undefined;
    }
    // A line that returns after a long time is news.
    const again = known !== undefined && now - known.saidAt < 4 * known.quietMs;
    const quietMs = again ? Math.min(longestMs, known.quietMs * 2) : firstMs;
    this.#lines.delete(key);
    this.#lines.set(key, { saidAt: now, quietMs, leftOut: 0 });
    const oldest = this.#lines.size > REMEMBERED ? this.#lines.keys().next().value : undefined;
    if (oldest !== undefined) this.#lines.delete(oldest);
    return known?.leftOut ?? 0;
  }
}
