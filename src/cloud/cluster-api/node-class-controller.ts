/** Keeps the status of ClusterAPINodeClasses: what they select, and whether anything can be launched from it. */
import { CLUSTER_API_NODE_CLASSES, type ClusterApiNodeClass } from '../../apis/cluster-api/cluster-api-node-class.ts';
import type { KubeClient } from '../../kube/client.ts';
import { Controller } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Clock } from '../../platform/clock.ts';
import { asError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { nodeClassStatus } from './node-class-findings.ts';
import type { SelectedDeployments } from './selected-deployments.ts';

export interface NodeClassControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly selected: SelectedDeployments;
  /** Run by its maker. */
  readonly nodeClasses: Informer<ClusterApiNodeClass>;
}

const LOOK_AGAIN_MS = 60_000;

export class NodeClassController {
  readonly name = 'cluster-api.nodeclass';
  readonly #options: NodeClassControllerOptions;

  constructor(options: NodeClassControllerOptions) {
    this.#options = options;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, nodeClasses } = this.#options;
    const controller = new Controller({
      ...{ name: this.name, clock, logger },
      reconcile: async (name, context) => {
        await this.#reconcile(name, context.signal);
        return nodeClasses.get(name) === undefined ? undefined : { requeueAfterMs: LOOK_AGAIN_MS };
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
    const { client, clock, selected, nodeClasses } = this.#options;
    const nodeClass = nodeClasses.get(name);
    if (nodeClass === undefined) return;
    const found = await selected.of(nodeClass, signal).catch((error) => {
      if (signal.aborted) throw error;
      return { problem: asError(error).message };
    });
    const status = nodeClassStatus(nodeClass, found, clock.now());
    if (JSON.stringify(status) === JSON.stringify(nodeClass.status)) return;
    const { resourceVersion } = nodeClass.metadata;
    const body = { metadata: { resourceVersion }, status };
    await client.patch(CLUSTER_API_NODE_CLASSES, { name }, { type: 'merge', body }, { subresource: 'status', signal });
  }
}
