/** Gathers what happens close together into one batch: it ends when nothing came for a while, or when it lasted long enough. */
import type { Clock } from '../../platform/clock.ts';

export interface BatcherOptions {
  readonly clock: Clock;
  readonly idleMs: number;
  readonly maxMs: number;
}

export class Batcher {
  readonly #options: BatcherOptions;
  #wake: (() => void) | undefined;
  #triggered = false;

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  /** Something came. */
  trigger(): void {
    this.#triggered = true;
    this.#wake?.();
  }

  /** Resolves at the end of the next batch; rejects with the signal's reason when that aborts first. */
  async next(signal: AbortSignal): Promise<void> {
    const { clock, idleMs, maxMs } = this.#options;
    while (!this.#triggered) await this.#triggerOr(signal);
    const end = clock.elapsed() + maxMs;
    while (this.#triggered && clock.elapsed() < end) {
      this.#triggered = false;
      await clock.sleep(Math.min(idleMs, end - clock.elapsed()), signal);
    }
    this.#triggered = false;
  }

  async #triggerOr(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      this.#wake = () => {
        signal.removeEventListener('abort', stop);
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
