/** Gathers triggers into batches. A batch ends when no trigger came for a while, or after a maximum time. */
import type { Clock } from '../../platform/clock.ts';

/** How long a batch lasts. */
export interface BatchWindow {
  /** Ends the batch when no trigger came for this long. */
  readonly idleMs: number;
  /** Ends the batch after this long at the latest. */
  readonly maxMs: number;
}

export interface BatcherOptions {
  readonly clock: Clock;
  /** Read for every batch, so it may change. */
  readonly window: BatchWindow;
}

/** An urgent batch waits only for triggers of the same moment. */
const URGENT_IDLE_MS = 100;
const URGENT_MAX_MS = 1000;

export class Batcher {
  readonly #options: BatcherOptions;
  /** Times of the first and last trigger since the latest batch. */
  #came: { readonly first: number; readonly last: number } | undefined;
  #urgent = false;
  #wake: (() => void) | undefined;

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  /** Starts a batch, or extends the present one. */
  trigger(): void {
    const now = this.#options.clock.elapsed();
    const begins = this.#came === undefined;
    this.#came = { first: this.#came?.first ?? now, last: now };
    if (begins) this.#wake?.();
  }

  /** Starts a batch, but does not extend one that has started. */
  note(): void {
    if (this.#came === undefined) this.trigger();
  }

  /** Starts a batch that ends almost at once, or ends the present one. */
  hurry(): void {
    this.trigger();
    if (this.#urgent) return;
    this.#urgent = true;
    this.#wake?.();
  }

  /** Resolves at the end of the next batch; rejects with the signal's reason when that aborts first. */
  async next(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    // Triggers from before this call count from its start.
    const beganAt = clock.elapsed();
    for (;;) {
      const endsAt = this.#endsAt(beganAt);
      if (endsAt <= clock.elapsed()) break;
      await this.#wait(endsAt - clock.elapsed(), signal);
    }
    this.#came = undefined;
    this.#urgent = false;
  }

  #endsAt(beganAt: number): number {
    if (this.#came === undefined) return Number.POSITIVE_INFINITY;
    const { idleMs, maxMs } = this.#options.window;
    const first = Math.max(beganAt, this.#came.first);
    const last = Math.max(beganAt, this.#came.last);
    return this.#urgent
      ? Math.min(last + URGENT_IDLE_MS, first + URGENT_MAX_MS)
      : Math.min(last + idleMs, first + maxMs);
  }

  /** Waits that long, or until a trigger changes the end of the batch. */
  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const timer = Number.isFinite(ms) ? this.#options.clock.setTimer(ms, () => wake()) : undefined;
      const end = (): void => {
        timer?.cancel();
        signal.removeEventListener('abort', stop);
        this.#wake = undefined;
      };
      const stop = (): void => {
        end();
        reject(signal.reason);
      };
      const wake = (): void => {
        end();
        resolve();
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#wake = wake;
    });
  }
}
