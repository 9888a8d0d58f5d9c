/**
 * Asks for another round while pods have no place. An offering that had no capacity comes back into the market, a cloud
 * answers again, a volume is made: nobody says so, and the scheduler does not speak of a pod twice. And while pods do not
 * leave nodes that go: the places kept for them are forgotten after a while, and would be taken away and made again.
 */
import type { Clock, Timer } from '../../platform/clock.ts';

export interface LaterRoundOptions {
  readonly clock: Clock;
  trigger(): void;
}

const FIRST_WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 60_000;
/** Half of the time for which a place is kept for a pod. */
const STAYING_WAIT_MS = 300_000;

export class LaterRound {
  readonly #options: LaterRoundOptions;
  #waitMs = FIRST_WAIT_MS;
  #timer: Timer | undefined;

  constructor(options: LaterRoundOptions) {
    this.#options = options;
  }

  /** A round has ended: so many pods had no place in it, and so many were still on nodes that go. */
  ended(withoutPlace: number, displaced: number): void {
    this.stop();
    if (withoutPlace > 0) {
      this.#again(this.#waitMs);
      this.#waitMs = Math.min(LONGEST_WAIT_MS, this.#waitMs * 2);
      return;
    }
    this.#waitMs = FIRST_WAIT_MS;
    if (displaced > 0) this.#again(STAYING_WAIT_MS);
  }

  #again(afterMs: number): void {
    this.#timer = this.#options.clock.setTimer(afterMs, () => this.#options.trigger());
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
