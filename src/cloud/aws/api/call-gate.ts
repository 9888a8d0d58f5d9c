/**
 * Slows down calls that AWS throttles, per operation: AWS counts by operation and region. After a throttled call, calls of that operation
 * are spaced out. The rate falls with each further throttling and rises with each success, until no limit is needed. So callers that retry
 * at once cause no additional calls.
 */
import type { Clock } from '../../../platform/clock.ts';
import type { Random } from '../../../platform/random.ts';

/** Calls per second after the first throttling. */
const FIRST_RATE = 10;
const LEAST_RATE = 0.5;
/** At this rate the limit is lifted. */
const FREE_RATE = 100;
/** The rate is multiplied by this when a call is throttled. */
const FALL = 0.7;
/** Each success raises the rate by this much. */
const RISE = 0.05;
/** Throttled calls within this time count as one. */
const TOGETHER_MS = 1000;

interface Lane {
  rate: number;
  /** By `clock.elapsed()`: when the next call may be sent. */
  nextAt: number;
  /** Until then, further throttling does not lower the rate again. */
  judgedUntil: number;
}

export class CallGate {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #lanes = new Map<string, Lane>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Resolves when a call of that operation may be sent. */
  async pass(operation: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const lane = this.#lanes.get(operation);
    if (lane === undefined) return;
    const now = this.#clock.elapsed();
    const at = Math.max(now, lane.nextAt);
    // Uneven intervals: other processes of the account are throttled too.
    lane.nextAt = at + (1000 / lane.rate) * (0.75 + this.#random.next() / 2);
    if (at > now) await this.#clock.sleep(at - now, signal);
  }

  throttled(operation: string): void {
    const now = this.#clock.elapsed();
    const lane = this.#lanes.get(operation);
    if (lane === undefined) {
      this.#lanes.set(operation, { rate: FIRST_RATE, nextAt: now + TOGETHER_MS, judgedUntil: now + TOGETHER_MS });
    } else if (now >= lane.judgedUntil) {
      lane.rate = Math.max(LEAST_RATE, lane.rate * FALL);
      lane.judgedUntil = now + TOGETHER_MS;
    }
  }

  succeeded(operation: string): void {
    const lane = this.#lanes.get(operation);
    if (lane === undefined) return;
    lane.rate += RISE;
    if (lane.rate >= FREE_RATE) this.#lanes.delete(operation);
  }
}
