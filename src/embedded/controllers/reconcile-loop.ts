import { Controller, type ReconcileResult } from '../../kube/controller.ts';
import type { WorkQueue } from '../../kube/work-queue.ts';
import type { ControllerOptions } from './controller-options.ts';

export interface ReconcileLoopOptions {
  /** Dotted lower case. */
  readonly name: string;
  readonly concurrency?: number;
  /** Starts to listen to whatever should bring keys into the queue; gives what stops that. */
  listen(queue: WorkQueue): readonly (() => void)[];
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined>;
}

/** A controller on the shared informers: it starts to listen, waits until the caches are full, and works until told to stop. */
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
      // Everything a controller does here is in memory or next door: trouble passes quickly, so looking again may too.
      queue: { retriesPerSecond: 1000, retryBurst: 1000 },
      reconcile: async (key, context) => {
        // Whatever else happens in the same moment is taken in first: a burst of events is one look, not a thousand.
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
