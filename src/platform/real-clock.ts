import type { EpochMs, Timer } from './clock.ts';
import { TimedClock } from './timed-clock.ts';

/** Node calls back at once when a delay does not fit in 31 bits, so that longer delays are split. */
const LONGEST_STEP_MS = 0x7fff_ffff;

/** The machine's clock; with a speed of N, time runs N times faster from the moment the clock was made. */
export class RealClock extends TimedClock {
  readonly #speed: number;
  readonly #startedAt = Date.now();
  readonly #startedElapsed = performance.now();
  /** Callbacks with no delay, in order, each for a later turn of the event loop. */
  readonly #waiting = new Set<{ readonly callback: () => void }>();
  #turn: NodeJS.Immediate | undefined;

  constructor(options: { speed?: number } = {}) {
    super();
    this.#speed = options.speed ?? 1;
  }

  now(): EpochMs {
    if (this.#speed === 1) return Date.now() as EpochMs;
    return (this.#startedAt + this.elapsed()) as EpochMs;
  }

  elapsed(): number {
    return (performance.now() - this.#startedElapsed) * this.#speed;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    if (delayMs <= 0) return this.#inTurn(callback);
    let remaining = Math.max(0, delayMs) / this.#speed;
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const step = Math.min(remaining, LONGEST_STEP_MS);
      remaining -= step;
      handle = setTimeout(remaining > 0 ? arm : callback, step);
    };
    arm();
    return { cancel: () => clearTimeout(handle) };
  }
  /**
   * Node delays a timer by at least a millisecond; a callback with no delay runs in the next turn of the event loop instead.
   * Only one runs per turn: otherwise all jobs that work in slices would run theirs in the same turn.
   */
  #inTurn(callback: () => void): Timer {
    const waiter = { callback };
    this.#waiting.add(waiter);
    this.#turn ??= setImmediate(() => this.#next());
    return { cancel: () => this.#waiting.delete(waiter) };
  }

  #next(): void {
    this.#turn = undefined;
    const [waiter] = this.#waiting;
    if (waiter === undefined) return;
    this.#waiting.delete(waiter);
    if (this.#waiting.size > 0) this.#turn = setImmediate(() => this.#next());
    waiter.callback();
  }
}
