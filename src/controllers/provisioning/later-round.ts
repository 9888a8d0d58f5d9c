/**
 * Asks for another round while pods have no place. An offering that had no capacity comes back into the market, a cloud
 * answers again, a volume is made: nobody says so, and the scheduler does not speak of a pod twice.
 */
import type { Clock, Timer } from '../../platform/clock.ts';

export interface LaterRoundOptions {
  readonly clock: Clock;
  trigger(): void;
}

const FIRST_WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 60_000;

export class LaterRound {
  readonly #options: LaterRoundOptions;
  #waitMs = FIRST_WAIT_MS;
  #timer: Timer | undefined;

  constructor(options: LaterRoundOptions) {
    this.#options = options;
  }

  /** A round has ended, and so many pods had no place in it. */
  ended(withoutPlace: number): void {
    this.stop();
    if (withoutPlace === 0) {
      this.#waitMs = FIRST_WAIT_MS;
      return;
    }
    this.#timer = this.#options.clock.setTimer(this.#waitMs, () => this.#options.trigger());
    this.#waitMs = Math.min(LONGEST_WAIT_MS, this.#waitMs * 2);
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
