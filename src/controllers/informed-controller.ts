/** A controller on the shared informers: it listens, waits until the caches are full, and works until told to stop. */
import { Controller, type ReconcileContext, type ReconcileResult } from '../kube/controller.ts';
import type { WorkQueue } from '../kube/work-queue.ts';
import { hasCode } from '../platform/errors.ts';
import type { ControllersOptions } from './controllers-options.ts';

export interface InformedControllerSettings {
  /** Dotted lower case: `nodeclaim.lifecycle`. */
  readonly name: string;
  readonly concurrency?: number;
  /** What goes before all else, and how many more keys of that kind are worked on at once. */
  readonly urgent?: { readonly concurrency: number; is(key: string): boolean };
  /** After which a reconcile is told to stop. */
  readonly timeoutMs?: number;
  /** The waits between the tries of one key, where they are not the usual ones. */
  readonly backOff?: { readonly baseDelayMs: number; readonly maxDelayMs: number };
  /** How long a key that failed waits at most, where its time is running out. */
  retryWithinMs?(key: string): number | undefined;
  /** Starts to listen to whatever should bring keys into the queue; gives what stops that. */
  listen(queue: WorkQueue): readonly (() => void)[];
  reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | undefined>;
}

/** An object that was there is there no more: the cache will say so soon. */
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
      // Keys that fail wait for themselves, not for each other.
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
      context.logger.debug('an object has gone meanwhile', { error });
      return { requeueAfterMs: LOOK_AGAIN_MS };
    }
  }
}
