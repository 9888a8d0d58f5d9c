import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import { Controller } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import type { Informer } from '../../../kube/informer.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';

export interface ReconcileKindOptions<T extends KubeObject> {
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Run from here. */
  readonly informer: Informer<T>;
  reconcile(object: T, signal: AbortSignal): Promise<void>;
}

/** Reconciles each object of a kind when it changes, until the signal aborts. */
export async function reconcileKind<T extends KubeObject>(
  { name, clock, logger, informer, reconcile }: ReconcileKindOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const controller = new Controller({
    ...{ name, clock, logger },
    reconcile: async (key, context) => {
      const object = informer.get(key);
      if (object !== undefined) await reconcile(object, context.signal);
      return undefined;
    },
  });
  const stop = enqueueOn(informer, controller.queue);
  try {
    await Promise.all([informer.run(signal), controller.run(signal)]);
  } finally {
    stop();
  }
}
