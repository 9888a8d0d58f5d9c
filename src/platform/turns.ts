import type { Clock } from './clock.ts';

/**
 * Lets others in the process have their turn. Work in memory waits for nothing but itself, so a long run of it would hold
 * up every timer and socket; after so many steps, if these took so long, all who take part wait until others have been served.
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

  /** Call it before each step. Whose signal aborts waits no longer. */
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
