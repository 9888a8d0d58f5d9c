/** Gathers what happens close together into one batch: it ends when nothing came for a while, or when it lasted long enough. */
import type { Clock } from '../../platform/clock.ts';

/** How long a batch lasts. */
export interface BatchWindow {
  /** It ends when nothing came for this long. */
  readonly idleMs: number;
  /** It ends after this long at the latest. */
  readonly maxMs: number;
}

export interface BatcherOptions {
  readonly clock: Clock;
  /** Looked at whenever something comes: it may change. */
  readonly window: BatchWindow;
}

/** What is urgent waits only for what comes in the same moment. */
const URGENT_IDLE_MS = 100;
const URGENT_MAX_MS = 1000;

export class Batcher {
  readonly #options: BatcherOptions;
  /** When something came first and last that no batch has had yet. */
  #came: { readonly first: number; readonly last: number } | undefined;
  #urgent = false;
  #wake: (() => void) | undefined;

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  /** Something came. */
  trigger(): void {
    const now = this.#options.clock.elapsed();
    const begins = this.#came === undefined;
    this.#came = { first: this.#came?.first ?? now, last: now };
    if (begins) this.#wake?.();
  }

  /** Something came that is worth a batch, but none that is under way need wait longer for it. */
  note(): void {
    if (this.#came === undefined) this.trigger();
  }

  /** Something came that cannot wait: the batch ends almost at once. */
  hurry(): void {
    this.trigger();
    if (this.#urgent) return;
    this.#urgent = true;
    this.#wake?.();
  }

  /** Resolves at the end of the next batch; rejects with the signal's reason when that aborts first. */
  async next(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    // What came while nobody waited is not older than the wait.
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

  /** Waits so long, or until something changes when the batch ends sooner. */
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
