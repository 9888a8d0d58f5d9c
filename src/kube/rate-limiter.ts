/** Limits the rate of requests; waiting requests of higher priority go first. */
import type { Clock, Timer } from '../platform/clock.ts';
import { TokenBucket } from '../platform/token-bucket.ts';
import type { RequestPriority } from './client.ts';

const ORDER: readonly RequestPriority[] = ['high', 'normal', 'low'];

export class RateLimiter {
  readonly #clock: Clock;
  readonly #bucket: TokenBucket;
  readonly #waiting: Readonly<Record<RequestPriority, Set<() => void>>> = {
    high: new Set(),
    normal: new Set(),
    low: new Set(),
  };
  #timer: Timer | undefined;

  constructor(options: { clock: Clock; perSecond: number; burst: number }) {
    this.#clock = options.clock;
    this.#bucket = new TokenBucket(options);
  }

  /** Resolves when a request of that priority can be sent; rejects with the signal's reason when that aborts first. */
  async acquire(priority: RequestPriority, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waitingBefore(priority) === 0 && this.#bucket.tryTake()) return;
    await new Promise<void>((resolve, reject) => {
      const queue = this.#waiting[priority];
      const go = (): void => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      const stop = (): void => {
        queue.delete(go);
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      queue.add(go);
      this.#schedule();
    });
  }

  /** The number of waiting requests of the same or higher priority. */
  #waitingBefore(priority: RequestPriority): number {
    return ORDER.slice(0, ORDER.indexOf(priority) + 1).reduce((sum, name) => sum + this.#waiting[name].size, 0);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#waitingBefore('low') === 0) return;
    this.#timer = this.#clock.setTimer(this.#bucket.untilNext(), () => {
      this.#timer = undefined;
      this.#release();
      this.#schedule();
    });
  }

  #release(): void {
    for (const priority of ORDER) {
      const queue = this.#waiting[priority];
      for (const go of queue) {
        if (!this.#bucket.tryTake()) return;
        queue.delete(go);
        go();
      }
    }
  }
}
