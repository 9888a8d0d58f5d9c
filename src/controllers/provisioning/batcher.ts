/** Gathers what happens close together into one batch: it ends when nothing came for a while, or when it lasted long enough. */
import type { Clock } from '../../platform/clock.ts';

export interface BatcherOptions {
  readonly clock: Clock;
  readonly idleMs: number;
  readonly maxMs: number;
}

/** What is urgent waits only for what comes in the same moment. */
const URGENT_IDLE_MS = 100;
const URGENT_MAX_MS = 1000;

export class Batcher {
  readonly #options: BatcherOptions;
  #wake: (() => void) | undefined;
  #triggered = false;
  #urgent = false;
  /** Ends the wait for more at once. */
  #hurry: (() => void) | undefined;

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  /** Something came. */
  trigger(): void {
    this.#triggered = true;
    this.#wake?.();
  }

  /** Something came that cannot wait: the batch ends almost at once. */
  hurry(): void {
    if (!this.#urgent) this.#hurry?.();
    this.#urgent = true;
    this.trigger();
  }

  /** Resolves at the end of the next batch; rejects with the signal's reason when that aborts first. */
  async next(signal: AbortSignal): Promise<void> {
    while (!this.#triggered) await this.#triggerOr(signal);
    const startedAt = this.#options.clock.elapsed();
    while (this.#triggered && this.#left(startedAt) > 0) {
      this.#triggered = false;
      await this.#wait(startedAt, signal);
    }
    this.#triggered = false;
    this.#urgent = false;
  }

  /** How long the batch that began then may still last. */
  #left(startedAt: number): number {
    const { clock, maxMs } = this.#options;
    return startedAt + (this.#urgent ? URGENT_MAX_MS : maxMs) - clock.elapsed();
  }

  async #wait(startedAt: number, signal: AbortSignal): Promise<void> {
    const { clock, idleMs } = this.#options;
    const idle = this.#urgent ? URGENT_IDLE_MS : idleMs;
    const hurried = new AbortController();
    this.#hurry = () => hurried.abort();
    try {
      await clock.sleep(Math.min(idle, this.#left(startedAt)), AbortSignal.any([signal, hurried.signal]));
    } catch (error) {
      if (signal.aborted) throw error;
    } finally {
      this.#hurry = undefined;
    }
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
