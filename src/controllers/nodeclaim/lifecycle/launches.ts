/**
 * The launches in progress, by the UID of their claim. They run outside the reconcile workers, so that hanging launches do not hold up
 * other claims.
 */
import type { Clock } from '../../../platform/clock.ts';
import { type LaunchOutcome, outcomeOf } from './launch-outcome.ts';

export interface LaunchesOptions {
  readonly clock: Clock;
  /** The timeout of one try. */
  readonly tryTimeoutMs?: number;
}

/** The state of a launch. A failed or pending one is tried again from `retryAt` on, by `clock.elapsed()`. */
export type Launch =
  | { readonly state: 'running' }
  | { readonly state: 'ended'; readonly outcome: LaunchOutcome; readonly retryAt: number };

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

export class Launches {
  readonly #clock: Clock;
  readonly #tryTimeoutMs: number;
  readonly #running = new Map<string, Running>();
  readonly #ended = new Map<string, Launch & { readonly state: 'ended' }>();
  readonly #failures = new Map<string, number>();

  constructor({ clock, tryTimeoutMs = 60_000 }: LaunchesOptions) {
    this.#clock = clock;
    this.#tryTimeoutMs = tryTimeoutMs;
  }

  get(uid: string): Launch | undefined {
    return this.#running.has(uid) ? { state: 'running' } : this.#ended.get(uid);
  }

  /** Starts a launch, unless one is running; calls `ended` at its end. */
  start(uid: string, launch: (signal: AbortSignal) => Promise<LaunchOutcome>, ended: () => void): void {
    if (this.#running.has(uid)) return;
    this.#ended.delete(uid);
    const stop = new AbortController();
    const running = { stop, ended: this.#run(uid, launch, stop.signal).then(ended) };
    this.#running.set(uid, running);
  }

  /** Aborts a running launch. Returns whether there was one; it has ended when `get` says so. */
  stop(uid: string): boolean {
    const running = this.#running.get(uid);
    running?.stop.abort();
    return running !== undefined;
  }

  /** Forgets a launch whose outcome is on the claim, or whose claim is gone. */
  forget(uid: string): void {
    this.#ended.delete(uid);
    this.#failures.delete(uid);
  }

  /** Stops all launches and waits until they have ended. */
  async stopAll(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ ended }) => ended));
  }

  async #run(uid: string, launch: (signal: AbortSignal) => Promise<LaunchOutcome>, stop: AbortSignal): Promise<void> {
    const limit = this.#clock.deadline(this.#tryTimeoutMs, stop);
    let outcome: LaunchOutcome;
    try {
      outcome = await launch(limit.signal);
    } catch (error) {
      outcome = outcomeOf(error);
    } finally {
      limit.cancel();
    }
    const failures = outcome.kind === 'failed' ? (this.#failures.get(uid) ?? 0) + 1 : 0;
    if (failures > 0) this.#failures.set(uid, failures);
    const waitMs =
      outcome.kind === 'pending'
        ? outcome.askAgainMs
        : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, failures - 1));
    this.#running.delete(uid);
    this.#ended.set(uid, { state: 'ended', outcome, retryAt: this.#clock.elapsed() + waitMs });
  }
}
