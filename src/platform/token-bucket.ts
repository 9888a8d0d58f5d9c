import type { Clock } from './clock.ts';

/** Allows a burst, then a fixed rate per second. It never waits itself: it tells the caller how long to wait. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #filledAt: number;

  constructor(options: { clock: Clock; perSecond: number; burst: number }) {
    this.#clock = options.clock;
    this.#perSecond = options.perSecond;
    this.#burst = options.burst;
    this.#tokens = options.burst;
    this.#filledAt = options.clock.elapsed();
  }

  /** Takes a token if there is one. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes a token, also one of the future; returns the milliseconds until it is valid. */
  reserve(): number {
    this.#refill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : Math.ceil((-this.#tokens / this.#perSecond) * 1000);
  }

  /** Milliseconds until a token is available; 0 when there is one. */
  untilNext(): number {
    this.#refill();
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1000);
  }

  #refill(): void {
    const now = this.#clock.elapsed();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#filledAt) / 1000) * this.#perSecond);
    this.#filledAt = now;
  }
}
