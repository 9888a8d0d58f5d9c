import type { Clock } from '../../platform/clock.ts';

/** Counts what came in a moment that has only just passed: where that was much, more is to be expected. */
export class RecentCount {
  readonly #clock: Clock;
  readonly #momentMs: number;
  #since = Number.NEGATIVE_INFINITY;
  #count = 0;
  #before = 0;

  constructor(clock: Clock, momentMs: number) {
    this.#clock = clock;
    this.#momentMs = momentMs;
  }

  /** One more has come. */
  add(): void {
    this.#moveOn();
    this.#count++;
  }

  /** How many came in the present moment, or in the last one where that were more. */
  get value(): number {
    this.#moveOn();
    return Math.max(this.#count, this.#before);
  }

  #moveOn(): void {
    const now = this.#clock.elapsed();
    if (now < this.#since + this.#momentMs) return;
    this.#before = now < this.#since + 2 * this.#momentMs ? this.#count : 0;
    this.#count = 0;
    this.#since = now;
  }
}
