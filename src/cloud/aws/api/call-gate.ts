/**
 * Slows down calls that AWS throttles, each kind by itself: AWS counts them by kind and region. After a refusal, calls of that kind
 * are sent one after another at a rate that falls with each further refusal and rises with each answer, until it is so high that none is
 * needed. So callers that come back at once cost no calls.
 */
import type { Clock } from '../../../platform/clock.ts';
import type { Random } from '../../../platform/random.ts';

/** Calls per second after the first refusal. */
const FIRST_RATE = 10;
const LEAST_RATE = 0.5;
/** At this rate the kind is free again. */
const FREE_RATE = 100;
/** What is left of the rate after a refusal. */
const FALL = 0.7;
/** By so much each answer raises it. */
const RISE = 0.05;
/** Refusals of calls that were on their way together are one. */
const TOGETHER_MS = 1000;

interface Lane {
  rate: number;
  /** By `clock.elapsed()`: when the next call may be sent. */
  nextAt: number;
  /** Until then, refusals say nothing new. */
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

  /** Resolves when a call of that kind may be made. */
  async pass(operation: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const lane = this.#lanes.get(operation);
    if (lane === undefined) return;
    const now = this.#clock.elapsed();
    const at = Math.max(now, lane.nextAt);
    // Not at even distances: other processes of the account have their own.
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
