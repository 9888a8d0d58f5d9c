/** Runs a reconciler over a work queue: so many keys at once, failures with back-off, one bad key never stops another. */
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

/** What a reconcile asks for; nothing when it is content until the next event. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

export interface ControllerOptions {
  /** Dotted lower case, noun then aspect: `nodeclaim.lifecycle`. The name in logs, metrics and of the queue. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** How many keys are worked on at once. */
  readonly concurrency?: number;
  /** How many more are, of those that are urgent: whatever hangs, what is urgent does not wait for it. */
  readonly urgentConcurrency?: number;
  /** After which a reconcile is told to stop and the key is tried again later. */
  readonly timeoutMs?: number;
  readonly queue?: Partial<Omit<WorkQueueOptions, 'name' | 'clock' | 'metrics'>>;
  /** Reads what there is, decides, acts. It is called with a key, never with an event. */
  reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | undefined>;
}

/** So many keys are worked on, for so long, before others have their turn: most find nothing to do, and wait for nobody while they do so. */
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
    // Our picture was old: nothing is wrong, the next look will be right.
    if (hasCode(error, 'KUBE_CONFLICT')) logger.debug('reconciler will look again', { error });
    else this.#trouble.error('reconciler failed', error, { key, failures: this.queue.failures(key) + 1 });
    // No quick retries, but never given up either.
    if (isTerminal(error)) this.queue.add(key, { afterMs: 60_000 });
    else this.queue.addRateLimited(key);
  }
}
