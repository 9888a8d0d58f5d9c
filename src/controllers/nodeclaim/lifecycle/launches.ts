/**
 * The launches of this process, by the UID of their claim. They run beside the reconciles and not within them, so that any
 * number of launches that hang keeps nobody else waiting.
 */
import type { Clock } from '../../../platform/clock.ts';
import { type LaunchOutcome, outcomeOf } from './launch-outcome.ts';

export interface LaunchesOptions {
  readonly clock: Clock;
  /** After which one try is given up. */
  readonly tryTimeoutMs?: number;
}

/** How a launch stands: under way, or ended; one that failed or is pending is asked after from `retryAt` of `clock.elapsed()` on. */
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

  /** Starts a launch, unless one is under way; calls back when it has ended. */
  start(uid: string, launch: (signal: AbortSignal) => Promise<LaunchOutcome>, ended: () => void): void {
    if (this.#running.has(uid)) return;
    this.#ended.delete(uid);
    const stop = new AbortController();
    const running = { stop, ended: this.#run(uid, launch, stop.signal).then(ended) };
    this.#running.set(uid, running);
  }

  /** Has a launch stopped; tells whether one was under way. It has ended when `get` says so. */
  stop(uid: string): boolean {
    const running = this.#running.get(uid);
    running?.stop.abort();
    return running !== undefined;
  }

  /** What is known of a launch is written down, or the claim is gone. */
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
