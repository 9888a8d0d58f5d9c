/**
 * Slows down calls that AWS throttles, each kind by itself: AWS counts them by kind and region. After a refusal the next call
 * of that kind waits, and longer after each further one; an answer ends it.
 */
import type { Clock } from '../../../platform/clock.ts';
import type { Random } from '../../../platform/random.ts';

const FIRST_MS = 1000;
const LONGEST_MS = 30_000;

interface Wait {
  /** By `clock.elapsed()`. */
  readonly until: number;
  readonly ms: number;
}

export class CallGate {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #waits = new Map<string, Wait>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Resolves when a call of that kind may be made. */
  async pass(operation: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const wait = this.#waits.get(operation);
    const ms = wait === undefined ? 0 : wait.until - this.#clock.elapsed();
    // Spread over half as long again, so that all that wait do not come at once.
    if (ms > 0) await this.#clock.sleep(ms * (1 + this.#random.next() / 2), signal);
  }

  throttled(operation: string): void {
    const now = this.#clock.elapsed();
    const before = this.#waits.get(operation);
    // Calls that were on their way together are one refusal.
    if (before !== undefined && before.until > now) return;
    const ms = before === undefined ? FIRST_MS : Math.min(before.ms * 2, LONGEST_MS);
    this.#waits.set(operation, { until: now + ms, ms });
  }

  succeeded(operation: string): void {
    this.#waits.delete(operation);
  }
}
