/**
 * Combines many single lookups into few batch calls. A lookup waits until none has been added for a moment, up to a limit; then all waiting
 * ones are sent together.
 */
import type { Clock, Timer } from '../../../platform/clock.ts';
import { asError } from '../../../platform/errors.ts';

export interface BatcherOptions<Key, Answer> {
  readonly clock: Clock;
  readonly idleMs: number;
  readonly longestMs: number;
  readonly most: number;
  /** The answers by key; a missing key means undefined. */
  ask(keys: readonly Key[], signal: AbortSignal): Promise<ReadonlyMap<Key, Answer>>;
}

interface Waiting<Answer> {
  resolve(answer: Answer | undefined): void;
  reject(error: Error): void;
}

export class Batcher<Key, Answer> {
  readonly #options: BatcherOptions<Key, Answer>;
  #waiting = new Map<Key, Waiting<Answer>[]>();
  #since = 0;
  #timer: Timer | undefined;
  /** A batch serves many callers, so it is not aborted with one of them. */
  readonly #never = new AbortController().signal;

  constructor(options: BatcherOptions<Key, Answer>) {
    this.#options = options;
  }

  ask(key: Key, signal: AbortSignal): Promise<Answer | undefined> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(asError(signal.reason));
      signal.addEventListener('abort', abort, { once: true });
      const done = (): void => signal.removeEventListener('abort', abort);
      const waiting: Waiting<Answer> = {
        resolve: (answer) => {
          done();
          resolve(answer);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      };
      const others = this.#waiting.get(key);
      if (others === undefined) this.#waiting.set(key, [waiting]);
      else others.push(waiting);
      this.#schedule();
    });
  }

  #schedule(): void {
    const { clock, idleMs, longestMs, most } = this.#options;
    const now = clock.elapsed();
    if (this.#timer === undefined) this.#since = now;
    this.#timer?.cancel();
    const delay = this.#waiting.size >= most ? 0 : Math.min(idleMs, this.#since + longestMs - now);
    this.#timer = clock.setTimer(Math.max(0, delay), () => this.#flush());
  }

  #flush(): void {
    this.#timer = undefined;
    const entries = [...this.#waiting];
    this.#waiting = new Map();
    const { most } = this.#options;
    for (let at = 0; at < entries.length; at += most) void this.#send(entries.slice(at, at + most));
  }

  async #send(entries: readonly (readonly [Key, readonly Waiting<Answer>[]])[]): Promise<void> {
    try {
      const answers = await this.#options.ask(
        entries.map(([key]) => key),
        this.#never,
      );
      for (const [key, waiting] of entries) for (const each of waiting) each.resolve(answers.get(key));
    } catch (error) {
      for (const [, waiting] of entries) for (const each of waiting) each.reject(asError(error));
    }
  }
}
