import type { Clock, Deadline, EpochMs, Timer } from '../../../src/platform/clock.ts';
import { SpindriftError } from '../../../src/platform/errors.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';

/** Time that goes as on the wall, and can be made to jump: timers that are due after a jump are called at once. */
export class WarpClock implements Clock {
  readonly #real = new RealClock();
  readonly #timers = new Set<{ readonly dueAt: number; readonly fire: () => void; timer: Timer }>();
  #ahead = 0;

  now(): EpochMs {
    return (this.#real.now() + this.#ahead) as EpochMs;
  }

  elapsed(): number {
    return this.#real.elapsed() + this.#ahead;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const dueAt = this.elapsed() + delayMs;
    const entry = {
      dueAt,
      fire: () => {
        this.#timers.delete(entry);
        entry.timer.cancel();
        callback();
      },
      timer: { cancel: () => {} } as Timer,
    };
    entry.timer = this.#real.setTimer(delayMs, () => entry.fire());
    this.#timers.add(entry);
    return {
      cancel: () => {
        this.#timers.delete(entry);
        entry.timer.cancel();
      },
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const abort = (): void => {
        timer.cancel();
        reject(signal?.reason);
      };
      const timer = this.setTimer(delayMs, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  deadline(delayMs: number, parent?: AbortSignal): Deadline {
    const controller = new AbortController();
    const timer = this.setTimer(delayMs, () =>
      controller.abort(new SpindriftError('DEADLINE_EXCEEDED', { milliseconds: delayMs })),
    );
    const signal = parent === undefined ? controller.signal : AbortSignal.any([controller.signal, parent]);
    return { signal, cancel: () => timer.cancel() };
  }

  /** Jumps ahead. */
  async warp(milliseconds: number): Promise<void> {
    this.#ahead += milliseconds;
    const now = this.elapsed();
    for (const entry of [...this.#timers].sort((a, b) => a.dueAt - b.dueAt)) if (entry.dueAt <= now) entry.fire();
    await this.#real.sleep(1);
  }
}
