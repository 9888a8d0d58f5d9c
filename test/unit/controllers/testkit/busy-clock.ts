import type { Clock, EpochMs, Timer } from '../../../../src/platform/clock.ts';
import { TimedClock } from '../../../../src/platform/timed-clock.ts';

/** Whoever looks at the clock twice has worked so long in between. */
const WORK_MS = 5;

/**
 * The clock of a process on a busy machine. On a virtual clock no time passes while something is worked out; on this one it
 * does, and who gives others their turn has it back only after so long: the world changes under whoever is about to act.
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
