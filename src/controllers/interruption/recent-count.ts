import type { Clock } from '../../platform/clock.ts';

/** Counts events in the latest moment: after many, more are to be expected. */
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

  /** Counts one more. */
  add(): void {
    this.#moveOn();
    this.#count++;
  }

  /** The count of the present moment, or of the one before if that is higher. */
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
