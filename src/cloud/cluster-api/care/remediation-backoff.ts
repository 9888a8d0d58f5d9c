/**
 * Puts off the remediation of machines that get no instance, longer each time machines of the same set fail: a health check
 * alone would delete and make them again without end, as fast as the cloud refuses. Cluster API has no such backoff.
 */
import type { Clock } from '../../../platform/clock.ts';

export interface RemediationBackoffOptions {
  readonly clock: Clock;
  readonly firstMs?: number;
  readonly longestMs?: number;
}

interface History {
  failures: number;
  /** Until when, by the UID of the machine. */
  readonly holds: Map<string, number>;
}

export class RemediationBackoff {
  readonly #clock: Clock;
  readonly #firstMs: number;
  readonly #longestMs: number;
  readonly #sets = new Map<string, History>();

  constructor({ clock, firstMs = 60_000, longestMs = 7_200_000 }: RemediationBackoffOptions) {
    this.#clock = clock;
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
  }

  /** For how long a failed machine is left alone; 0 when its time is over. */
  heldMs(set: string, machineUID: string): number {
    const history = this.#sets.get(set) ?? { failures: 0, holds: new Map() };
    this.#sets.set(set, history);
    let until = history.holds.get(machineUID);
    if (until === undefined) {
      until = this.#clock.elapsed() + Math.min(this.#longestMs, this.#firstMs * 2 ** history.failures);
      history.failures++;
      history.holds.set(machineUID, until);
    }
    return Math.max(0, until - this.#clock.elapsed());
  }

  /** A machine of the set got its instance: the next failure is the first again. */
  succeeded(set: string): void {
    this.#sets.delete(set);
  }

  /** How often machines of the set have failed in a row. */
  failures(set: string): number {
    return this.#sets.get(set)?.failures ?? 0;
  }
}
