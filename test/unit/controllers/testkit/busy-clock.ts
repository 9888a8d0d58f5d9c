import type { Clock, EpochMs, Timer } from '../../../../src/platform/clock.ts';
import { TimedClock } from '../../../../src/platform/timed-clock.ts';

/** Simulated work between two readings of the clock. */
const WORK_MS = 5;

/**
 * The clock of a process on a busy machine. A plain virtual clock stands still during computation. On this one time passes, and yielding to
 * the event loop takes a while, so the cluster changes between a decision and its action.
 */
export class BusyClock extends TimedClock {
  readonly #clock: Clock;
  readonly #turnMs: number;
  #last = 0;

  constructor(clock: Clock, turnMs: number) {
    super();
    this.#clock = clock;
    this.#turnMs = turnMs;
  }

  now(): EpochMs {
    return this.#clock.now();
  }

  elapsed(): number {
    const passed = this.#clock.elapsed();
    this.#last = Math.max(this.#last, Math.min(passed + this.#turnMs, Math.max(passed, this.#last + WORK_MS)));
    return this.#last;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.#clock.setTimer(delayMs > 0 ? delayMs : this.#turnMs, callback);
  }
}
