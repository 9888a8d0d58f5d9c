import type { Clock, Deadline, EpochMs, Timer } from './clock.ts';
import { SpindriftError } from './errors.ts';

/** Implements `sleep` and `deadline` for every clock, from `now`, `elapsed` and `setTimer`. */
export abstract class TimedClock implements Clock {
  abstract now(): EpochMs;
  abstract elapsed(): number;
  abstract setTimer(delayMs: number, callback: () => void): Timer;

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const stop = (): void => {
        timer.cancel();
        reject(signal?.reason);
      };
      const timer = this.setTimer(delayMs, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  deadline(delayMs: number, parent?: AbortSignal): Deadline {
    const controller = new AbortController();
    const timer = this.setTimer(delayMs, () =>
      controller.abort(new SpindriftError('DEADLINE_EXCEEDED', { milliseconds: delayMs })),
    );
    const follow = (): void => controller.abort(parent?.reason);
    const cancel = (): void => {
      timer.cancel();
      parent?.removeEventListener('abort', follow);
    };
    controller.signal.addEventListener('abort', cancel, { once: true });
    if (parent?.aborted) follow();
    else parent?.addEventListener('abort', follow, { once: true });
    return { signal: controller.signal, cancel };
  }
}
