/** Caches answers of AWS for a while, by question. Each question has at most one call running. */
import type { Clock } from '../../../platform/clock.ts';

interface Kept<Answer> {
  readonly answer: Promise<Answer>;
  readonly at: number;
}

export class CachedQuery<Question, Answer> {
  readonly #clock: Clock;
  readonly #maxAgeMs: number;
  readonly #ask: (question: Question, signal: AbortSignal) => Promise<Answer>;
  readonly #kept = new Map<string, Kept<Answer>>();

  constructor(clock: Clock, maxAgeMs: number, ask: (question: Question, signal: AbortSignal) => Promise<Answer>) {
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
    this.#ask = ask;
  }

  /** The answer, at most this old. Failures are not cached. */
  get(question: Question, signal: AbortSignal, maxAgeMs = this.#maxAgeMs): Promise<Answer> {
    const key = JSON.stringify(question);
    const now = this.#clock.elapsed();
    const kept = this.#kept.get(key);
    if (kept !== undefined && now - kept.at < maxAgeMs) return kept.answer;
    for (const [old, { at }] of this.#kept) if (now - at >= 2 * this.#maxAgeMs) this.#kept.delete(old);
    const answer = this.#ask(question, signal);
    const entry = { answer, at: now };
    this.#kept.set(key, entry);
    answer.catch(() => {
      if (this.#kept.get(key) === entry) this.#kept.delete(key);
    });
    return answer;
  }

  /** When the cached answer was asked for, by `clock.elapsed()`. */
  askedAt(question: Question): number | undefined {
    return this.#kept.get(JSON.stringify(question))?.at;
  }

  clear(): void {
    this.#kept.clear();
  }
}
