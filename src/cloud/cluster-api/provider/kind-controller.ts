/** A controller of one kind of a provider: each object is reconciled when it changes. */
import type { Resource } from '../../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { Controller } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import { Informer } from '../../../kube/informer.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Random } from '../../../platform/random.ts';
import type { CloudController } from '../../cloud.ts';
import type { InfrastructureObject } from '../infrastructure-objects.ts';

export interface KindControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly kind: Resource<InfrastructureObject>;
  readonly namespace?: string;
}

export class KindController implements CloudController {
  readonly name: string;
  readonly #options: KindControllerOptions;
  readonly #reconcile: (object: InfrastructureObject, signal: AbortSignal) => Promise<void>;

  constructor(
    options: KindControllerOptions,
    reconcile: (object: InfrastructureObject, signal: AbortSignal) => Promise<void>,
  ) {
    this.#options = options;
    this.#reconcile = reconcile;
    this.name = `cluster-api.provider.${options.kind.plural}`;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, random, logger, kind, namespace } = this.#options;
    const selection = namespace === undefined ? {} : { namespace };
    const informer = new Informer({ client, clock, random, kind, selection });
    const controller = new Controller({
      ...{ name: this.name, clock, logger },
      reconcile: async (key, context) => {
        const object = informer.get(key);
        if (object !== undefined) await this.#reconcile(object, context.signal);
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
}
