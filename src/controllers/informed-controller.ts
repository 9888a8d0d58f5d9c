/** A controller on the shared informers: it listens, waits until the caches are synced, and reconciles until its signal aborts. */
import { Controller, type ReconcileContext, type ReconcileResult } from '../kube/controller.ts';
import type { WorkQueue } from '../kube/work-queue.ts';
import { hasCode } from '../platform/errors.ts';
import type { ControllersOptions } from './controllers-options.ts';

export interface InformedControllerSettings {
  /** Dotted lower case: `nodeclaim.lifecycle`. */
  readonly name: string;
  readonly concurrency?: number;
  /** Keys that go first, and the extra concurrency for them. */
  readonly urgent?: { readonly concurrency: number; is(key: string): boolean };
  /** After this long a reconcile is aborted. */
  readonly timeoutMs?: number;
  /** Waits between retries of a key; default those of the queue. */
  readonly backOff?: { readonly baseDelayMs: number; readonly maxDelayMs: number };
  /** Longest wait of a failed key, for keys with a deadline. */
  retryWithinMs?(key: string): number | undefined;
  /** Starts adding keys to the queue. Call the results to stop. */
  listen(queue: WorkQueue): readonly (() => void)[];
  reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | undefined>;
}

/** After an object was not found: the cache shows its deletion soon. */
const LOOK_AGAIN_MS = 1000;

export class InformedController {
  readonly queue: WorkQueue;
  readonly #controller: Controller;
  readonly #options: ControllersOptions;
  readonly #settings: InformedControllerSettings;

  constructor(options: ControllersOptions, settings: InformedControllerSettings) {
    const { clock, logger, metrics } = options;
    const { name, concurrency = 10, timeoutMs = 60_000, backOff, urgent } = settings;
    this.#options = options;
    this.#settings = settings;
    this.#controller = new Controller({
      ...{ name, concurrency, timeoutMs, clock, logger, metrics },
      // Failed keys back off one by one, not together.
      queue: {
        ...{ retriesPerSecond: 1000, retryBurst: 1000, ...backOff },
        isUrgent: (key) => urgent?.is(key) ?? false,
      },
      urgentConcurrency: urgent?.concurrency ?? 0,
      reconcile: (key, context) => this.#reconcile(key, context),
    });
    this.queue = this.#controller.queue;
  }

  get name(): string {
    return this.#controller.name;
  }

  /** Runs until the signal aborts and what is in progress has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const stops = this.#settings.listen(this.queue);
    try {
      await this.#options.state.informers.synced(signal);
      // Each worker listens to the signal while it waits, and finding one listener among many takes time.
      await this.#controller.run(AbortSignal.any([signal]));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const stop of stops) stop();
    }
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | undefined> {
    try {
      return await this.#settings.reconcile(key, context);
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) {
        const afterMs = this.#settings.retryWithinMs?.(key);
        if (afterMs !== undefined && !context.signal.aborted) this.queue.add(key, { afterMs });
        throw error;
      }
      context.logger.debug('object no longer exists', { error });
      return { requeueAfterMs: LOOK_AGAIN_MS };
    }
  }
}
