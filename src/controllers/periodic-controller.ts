import type { ReconcileContext } from '../kube/controller.ts';
import type { ControllersOptions } from './controllers-options.ts';
import { InformedController } from './informed-controller.ts';

/** By then everything that starts with this process has started. */
const FIRST_LOOK_MS = 10_000;

/** A controller that runs periodically; a failed run is retried sooner. */
export function periodicController(
  options: ControllersOptions,
  name: string,
  periodMs: number,
  look: (context: ReconcileContext) => Promise<void>,
): InformedController {
  return new InformedController(options, {
    name,
    concurrency: 1,
    backOff: { baseDelayMs: 1000, maxDelayMs: periodMs },
    listen: (queue) => {
      queue.add('all', { afterMs: FIRST_LOOK_MS });
      return [];
    },
    reconcile: async (_, context) => {
      await look(context);
      return { requeueAfterMs: periodMs };
    },
  });
}
