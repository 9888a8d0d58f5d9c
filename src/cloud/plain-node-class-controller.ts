/** Sets the conditions of node classes that need no check beyond the API server's validation: they are ready. */
import { withCondition } from '../apis/karpenter/conditions.ts';
import type { KubeClient } from '../kube/client.ts';
import { Controller } from '../kube/controller.ts';
import { enqueueOn } from '../kube/enqueue.ts';
import type { Informer } from '../kube/informer.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { CloudController } from './cloud.ts';
import type { NodeClass, NodeClassKind } from './node-class-kind.ts';

export interface PlainNodeClassControllerOptions {
  readonly name: string;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly kind: NodeClassKind;
  /** Started by its owner. */
  readonly nodeClasses: Informer<NodeClass>;
}

export class PlainNodeClassController implements CloudController {
  readonly name: string;
  readonly #options: PlainNodeClassControllerOptions;

  constructor(options: PlainNodeClassControllerOptions) {
    this.#options = options;
    this.name = options.name;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, nodeClasses } = this.#options;
    const controller = new Controller({
      ...{ name: this.name, clock, logger },
      reconcile: async (name, context) => {
        await this.#reconcile(name, context.signal);
        return undefined;
      },
    });
    const stop = enqueueOn(nodeClasses, controller.queue);
    try {
      await controller.run(signal);
    } finally {
      stop();
    }
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { client, clock, kind, nodeClasses } = this.#options;
    const nodeClass = nodeClasses.get(name);
    if (nodeClass === undefined) return;
    let conditions = nodeClass.status?.conditions ?? [];
    for (const type of kind.conditions.dependents) {
      const { metadata } = nodeClass;
      conditions = withCondition(
        kind.conditions,
        { metadata, status: { conditions } },
        { type, status: 'True' },
        clock.now(),
      );
    }
    if (conditions === nodeClass.status?.conditions) return;
    const body = { metadata: { resourceVersion: nodeClass.metadata.resourceVersion }, status: { conditions } };
    await client.patch(kind.resource, { name }, { type: 'merge', body }, { subresource: 'status', signal });
  }
}
