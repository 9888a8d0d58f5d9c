import { Controller, type ReconcileResult } from '../../kube/controller.ts';
import type { WorkQueue } from '../../kube/work-queue.ts';
import type { ControllerOptions } from './controller-options.ts';

export interface ReconcileLoopOptions {
  /** Dotted lower case. */
  readonly name: string;
  readonly concurrency?: number;
  /** Registers handlers that add keys to the queue, and returns functions that remove them. */
  listen(queue: WorkQueue): readonly (() => void)[];
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined>;
}

/** A controller on the shared informers: registers its handlers, waits for the caches to sync, and reconciles until the signal aborts. */
export class ReconcileLoop {
  readonly #shared: ControllerOptions;
  readonly #options: ReconcileLoopOptions;

  constructor(shared: ControllerOptions, options: ReconcileLoopOptions) {
    this.#shared = shared;
    this.#options = options;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, metrics, informers } = this.#shared;
    const { name, concurrency = 4 } = this.#options;
    const controller = new Controller({
      name,
      clock,
      concurrency,
      ...(logger && { logger }),
      ...(metrics && { metrics }),
      // Everything a controller uses is in memory or local, so failures pass quickly and retries can be fast.
      queue: { retriesPerSecond: 1000, retryBurst: 1000 },
      reconcile: async (key, context) => {
        // Lets other events of the same moment arrive first, so that a burst of events causes one reconcile.
        await clock.sleep(0, context.signal);
        return this.#options.reconcile(key, context.signal);
      },
    });
    const stops = this.#options.listen(controller.queue);
    try {
      await informers.synced(signal);
      await controller.run(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const stop of stops) stop();
    }
  }
}
