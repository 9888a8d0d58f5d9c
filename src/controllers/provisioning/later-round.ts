/**
 * Asks for another round while pods have no place. An offering that had no capacity comes back into the market, a cloud
 * answers again, a volume is made: nobody says so, and the scheduler does not speak of a pod twice. And while pods do not
 * leave nodes that go: the places kept for them are forgotten after a while, and would be taken away and made again.
 * And while claims cannot be written: sooner, as most of what fails succeeds the next time, but less and less often, as a
 * webhook may refuse them for good.
 */
import type { Clock, Timer } from '../../platform/clock.ts';

export interface LaterRoundOptions {
  readonly clock: Clock;
  trigger(): void;
}

const FIRST_WAIT_MS = 10_000;
/** The batch that is asked for takes its time as well. */
const FIRST_REWRITE_MS = 500;
const LONGEST_WAIT_MS = 60_000;
/** Half of the time for which a place is kept for a pod. */
const STAYING_WAIT_MS = 300_000;

export class LaterRound {
  readonly #options: LaterRoundOptions;
  #waitMs = FIRST_WAIT_MS;
  #rewriteMs = FIRST_REWRITE_MS;
  #timer: Timer | undefined;

  constructor(options: LaterRoundOptions) {
    this.#options = options;
  }

  /**
   * A round has ended: so many pods had no place in it, so many were still on nodes that go, and so many of its claims could not be
   * written.
   */
  ended(withoutPlace: number, displaced: number, unwritten = 0): void {
    this.stop();
    const afterMs = Math.min(
      displaced > 0 ? STAYING_WAIT_MS : Number.POSITIVE_INFINITY,
      withoutPlace > 0 ? this.#waitMs : Number.POSITIVE_INFINITY,
      unwritten > 0 ? this.#rewriteMs : Number.POSITIVE_INFINITY,
    );
    this.#waitMs = withoutPlace > 0 ? Math.min(LONGEST_WAIT_MS, this.#waitMs * 2) : FIRST_WAIT_MS;
    this.#rewriteMs = unwritten > 0 ? Math.min(LONGEST_WAIT_MS, this.#rewriteMs * 2) : FIRST_REWRITE_MS;
    if (Number.isFinite(afterMs)) this.#again(afterMs);
  }

  #again(afterMs: number): void {
    this.#timer = this.#options.clock.setTimer(afterMs, () => this.#options.trigger());
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
