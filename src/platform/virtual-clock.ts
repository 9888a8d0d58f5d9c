import type { EpochMs, Timer } from './clock.ts';
import { SpindriftError } from './errors.ts';
import { Heap } from './heap.ts';
import { TimedClock } from './timed-clock.ts';

interface PendingTimer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
  cancelled: boolean;
}

/** 2030-01-01T00:00:00Z: a round date that no real log shows, so that virtual times are recognised. */
const START: EpochMs = 1_893_456_000_000 as EpochMs;

/**
 * Time that stands still until a test moves it. Timers run in the order of their time, then in the order they were set, and
 * between two timers every promise that can settle does. Nothing on it may wait for real I/O.
 */
export class VirtualClock extends TimedClock {
  readonly #timers = new Heap<PendingTimer>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  readonly #start: EpochMs;
  #now: number;
  #order = 0;

  constructor(options: { start?: EpochMs } = {}) {
    super();
    this.#start = options.start ?? START;
    this.#now = this.#start;
  }

  now(): EpochMs {
    return this.#now as EpochMs;
  }

  elapsed(): number {
    return this.#now - this.#start;
  }

  /** How many timers are set. */
  get pending(): number {
    let count = 0;
    for (const timer of this.#timers) if (!timer.cancelled) count++;
    return count;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { at: this.#now + Math.max(0, delayMs), order: this.#order++, callback, cancelled: false };
    this.#timers.push(timer);
    return {
      cancel: () => {
        timer.cancelled = true;
      },
    };
  }

  /** Advances time and runs all timers that fall due, including those that callbacks set. */
  async advance(byMs: number): Promise<void> {
    const until = this.#now + byMs;
    await settle();
    while (this.#runNext(until)) await settle();
    this.#now = Math.max(this.#now, until);
  }

  /** Runs timers until the promise settles; throws CLOCK_DEADLOCK when it never can. */
  async run<T>(promise: Promise<T>, what = 'the promise'): Promise<T> {
    let settled = false;
    const note = (): void => {
      settled = true;
    };
    promise.then(note, note);
    await settle();
    while (!settled) {
      if (!this.#runNext(Number.POSITIVE_INFINITY)) {
        throw new SpindriftError('CLOCK_DEADLOCK', { what, now: new Date(this.#now).toISOString() });
      }
      await settle();
    }
    return promise;
  }

  /** Runs timers until the condition holds, for at most this much virtual time; returns whether it holds. */
  async runUntil(condition: () => boolean, withinMs: number): Promise<boolean> {
    const until = this.#now + withinMs;
    await settle();
    while (!condition()) {
      if (!this.#runNext(until)) {
        this.#now = Math.max(this.#now, until);
        return condition();
      }
      await settle();
    }
    return true;
  }

  #runNext(until: number): boolean {
    while (this.#timers.peek()?.cancelled) this.#timers.pop();
    const next = this.#timers.peek();
    if (next === undefined || next.at > until) return false;
    this.#timers.pop();
    this.#now = Math.max(this.#now, next.at);
    next.callback();
    return true;
  }
}

/** Settles every promise that can: the microtask queue is empty before the next macrotask runs. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
