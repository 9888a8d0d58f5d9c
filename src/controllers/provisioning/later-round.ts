/**
 * Asks for another round where nobody else would. While pods wait: an offering that had no capacity comes back into the market, a
 * cloud answers again, a volume is made, or the place that was planned for one is given to another, and the scheduler does not speak
 * of a pod twice. While pods do not leave nodes that go: the places kept for them are forgotten after a while, and would be taken away
 * and made again. And while claims cannot be written: sooner, as most of what fails succeeds the next time, but less and less
 * often, as a webhook may refuse them for good.
 */
import type { Clock, Timer } from '../../platform/clock.ts';

export interface LaterRoundOptions {
  readonly clock: Clock;
  trigger(): void;
}

/** What a round leaves behind. */
export interface Remainder {
  /** Pods without a node, be a place planned for them or not, and pods of nodes that go without one planned. */
  readonly waiting?: number;
  /** Pods on nodes that go. */
  readonly displaced?: number;
  /** Claims that could not be written. */
  readonly unwritten?: number;
}

const FIRST_WAIT_MS = 10_000;
/** The batch that is asked for takes its time as well. */
const FIRST_REWRITE_MS = 500;
const LONGEST_WAIT_MS = 60_000;
/** Half of the time for which a place is kept for a pod. */
const STAYING_WAIT_MS = 300_000;

export class LaterRound {
  readonly #options: LaterRoundOptions;
  #timer: Timer | undefined;
  #virtual: Timer | undefined;
  #hasAsked = false;
  /** How many rounds in a row pods have waited, and nobody asked for them but we: where others ask, something has changed. */
  #waited = 0;
  /** How many rounds in a row could not write what they wanted, whoever asked for them. */
  #failed = 0;

  constructor(options: LaterRoundOptions) {
    this.#options = options;
  }

  /** A round has ended, and this is left. */
  ended({ waiting = 0, displaced = 0, unwritten = 0 }: Remainder): void {
    this.stop();
    this.#waited = waiting > 0 && this.#hasAsked ? this.#waited + 1 : 0;
    this.#failed = unwritten > 0 ? this.#failed + 1 : 0;
    this.#hasAsked = false;
    const afterMs = Math.min(
      displaced > 0 ? STAYING_WAIT_MS : Number.POSITIVE_INFINITY,
      waiting > 0 ? longer(FIRST_WAIT_MS, this.#waited) : Number.POSITIVE_INFINITY,
      unwritten > 0 ? longer(FIRST_REWRITE_MS, this.#failed - 1) : Number.POSITIVE_INFINITY,
    );
    if (Number.isFinite(afterMs)) this.#timer = this.#options.clock.setTimer(afterMs, () => this.#ask());
  }

  /** So many virtual pods of capacity buffers have no place either: there is another round in a while, if none is asked for sooner. */
  also(virtual: number): void {
    if (virtual === 0) return;
    this.#virtual?.cancel();
    this.#virtual = this.#options.clock.setTimer(LONGEST_WAIT_MS, () => this.#options.trigger());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#virtual?.cancel();
  }

  #ask(): void {
    this.#hasAsked = true;
    this.#options.trigger();
  }
}

/** Twice as long each time. */
function longer(firstMs: number, times: number): number {
  return Math.min(LONGEST_WAIT_MS, firstMs * 2 ** times);
}
