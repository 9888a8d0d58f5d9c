import type { ReconcileContext } from '../kube/controller.ts';
import type { ControllersOptions } from './controllers-options.ts';
import { InformedController } from './informed-controller.ts';

/** What starts together with us has started by then. */
const FIRST_LOOK_MS = 10_000;

/** A controller that looks at everything again and again; a look that fails is taken again sooner. */
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
