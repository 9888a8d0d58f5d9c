/** Runs a reconciler over a work queue with limited concurrency. A failing key backs off and never stops another. */
import type { Clock } from '../platform/clock.ts';
import { hasCode, isTerminal } from '../platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import { Turns } from '../platform/turns.ts';
import { type ControllerObserver, controllerMetrics, type Outcome } from './controller-metrics.ts';
import { TroubleLog } from './trouble-log.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';

export interface ReconcileContext {
  /** Aborts when the controller stops or the reconcile has run out of time. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** The result of a reconcile; without a value, the key waits for the next event. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

export interface ControllerOptions {
  /** Dotted lower case, noun then aspect: `nodeclaim.lifecycle`. The name in logs, metrics and of the queue. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** The number of concurrent reconciles. */
  readonly concurrency?: number;
  /** Additional workers for urgent keys, so that these never wait for a slow reconcile. */
  readonly urgentConcurrency?: number;
  /** The time limit of a reconcile; its signal aborts then, and the key is retried. */
  readonly timeoutMs?: number;
  readonly queue?: Partial<Omit<WorkQueueOptions, 'name' | 'clock' | 'metrics'>>;
  /** Reads the caches, decides, acts. It gets a key, never an event. */
  reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | undefined>;
}

/** Yields to the event loop after this many keys and this much time: most reconciles find nothing to do and never wait. */
const KEYS_TOGETHER = 16;
const KEYS_MS = 4;

export class Controller {
  readonly name: string;
  /** Add keys here. */
  readonly queue: WorkQueue;
  readonly #options: ControllerOptions;
  readonly #logger: Logger;
  readonly #trouble: TroubleLog;
  readonly #observer: ControllerObserver;
  readonly #turns: Turns;

  constructor(options: ControllerOptions) {
    const { name, clock, metrics } = options;
    this.name = name;
    this.#options = options;
    this.#logger = (options.logger ?? SILENT_LOGGER).with({ controller: name });
    this.#trouble = new TroubleLog({ clock, logger: this.#logger });
    this.#observer = controllerMetrics(metrics, name);
    this.#turns = new Turns(clock, KEYS_TOGETHER, KEYS_MS);
    this.queue = new WorkQueue({ maxDelayMs: 60_000, ...options.queue, name, clock, ...(metrics && { metrics }) });
  }

  /** Runs until the signal aborts and the reconciles in progress have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { concurrency = 1, urgentConcurrency = 0 } = this.#options;
    const workers = Array.from({ length: concurrency + urgentConcurrency }, (_, index) => index >= concurrency);
    await Promise.all(workers.map((urgentOnly) => this.#work(signal, urgentOnly)));
    this.queue.close();
  }

  async #work(signal: AbortSignal, urgentOnly: boolean): Promise<void> {
    while (!signal.aborted) {
      const key = await this.queue.get(signal, { urgentOnly }).catch(() => undefined);
      if (key === undefined) return;
      await this.#turns.take(signal);
      await this.#reconcile(key, signal);
      this.queue.done(key);
    }
  }

  async #reconcile(key: string, stop: AbortSignal): Promise<void> {
    const { clock, timeoutMs = 60_000 } = this.#options;
    const logger = this.#logger.with({ key });
    const limit = clock.deadline(timeoutMs, stop);
    const startedAt = clock.elapsed();
    let outcome: Outcome = 'success';
    try {
      const result = await this.#options.reconcile(key, { signal: limit.signal, logger });
      this.queue.forget(key);
      if (result?.requeueAfterMs !== undefined) {
        outcome = 'requeue_after';
        this.queue.add(key, { afterMs: result.requeueAfterMs });
      }
    } catch (error) {
      if (stop.aborted) return;
      outcome = 'error';
      this.#failed(key, error, logger);
    } finally {
      limit.cancel();
      this.#observer.finished(outcome, (clock.elapsed() - startedAt) / 1000);
    }
  }

  #failed(key: string, error: unknown, logger: Logger): void {
    // The cache was stale: not an error, the retry reads the new state.
    if (hasCode(error, 'KUBE_CONFLICT')) logger.debug('write conflict, will reconcile again', { error });
    else this.#trouble.error('reconciler failed', error, { key, failures: this.queue.failures(key) + 1 });
    // Terminal errors are retried slowly, but never given up.
    if (isTerminal(error)) this.queue.add(key, { afterMs: 60_000 });
    else this.queue.addRateLimited(key);
  }
}
