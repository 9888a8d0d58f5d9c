/** Whether the latest nodes of each pool registered, as seen by this process. */
import type { RecordedEvent } from '../../kube/event-recorder.ts';

/** A node that registered, or failed to. */
export interface RegistrationResult {
  readonly succeeded: boolean;
  /** Why it failed: a reason in CamelCase, and a sentence. */
  readonly reason: string;
  readonly message: string;
}

export type Health = 'healthy' | 'unhealthy' | 'unknown';

const REMEMBERED = 4;
/** Failures among the remembered results that make a pool unhealthy. */
const MOST_FAILURES = 2;

export class RegistrationHealth {
  readonly #results = new Map<string, RegistrationResult[]>();
  readonly #listeners = new Set<(pool: string) => void>();

  record(pool: string, succeeded: boolean, event?: Pick<RecordedEvent, 'reason' | 'message'>): void {
    const result = { succeeded, reason: event?.reason ?? '', message: event?.message ?? '' };
    this.#results.set(pool, [...(this.#results.get(pool) ?? []), result].slice(-REMEMBERED));
    for (const listener of this.#listeners) listener(pool);
  }

  /** Forgets the results of a pool after a change of it or its node class. */
  reset(pool: string): void {
    this.#results.delete(pool);
  }

  of(pool: string): Health {
    const results = this.#results.get(pool) ?? [];
    if (results.filter(({ succeeded }) => !succeeded).length >= MOST_FAILURES) return 'unhealthy';
    return results.some(({ succeeded }) => succeeded) ? 'healthy' : 'unknown';
  }

  lastFailure(pool: string): RegistrationResult | undefined {
    return this.#results.get(pool)?.findLast(({ succeeded }) => !succeeded);
  }

  /** Calls back with the pool whenever there is a new result. Call the result to stop. */
  onResult(listener: (pool: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
