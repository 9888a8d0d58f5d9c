import type { Clock } from './clock.ts';

/**
 * Yields to the event loop. Work in memory never waits for I/O, so that a long run of it would block every timer and socket;
 * after a number of steps, if these took long enough, all users of this object wait until timers and sockets were served.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #steps: number;
  readonly #ms: number;
  #taken = 0;
  #since = 0;
  #pause: Promise<void> | undefined;

  constructor(clock: Clock, steps: number, ms = 0) {
    this.#clock = clock;
    this.#steps = steps;
    this.#ms = ms;
  }

  /** Call it before each step. An aborted signal ends the wait. */
  async take(signal?: AbortSignal): Promise<void> {
    while (this.#pause !== undefined) await this.#pause;
    if (++this.#taken < this.#steps) return;
    this.#taken = 0;
    if (this.#clock.elapsed() - this.#since < this.#ms) return;
    const goOn = (): void => {
      this.#pause = undefined;
      this.#since = this.#clock.elapsed();
    };
    this.#pause = this.#clock.sleep(0, signal).then(goOn, goOn);
    await this.#pause;
  }
}
