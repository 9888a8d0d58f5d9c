/** Opens the accounts that SimulatedNodeClasses describe, and writes to their status what they can launch. */
import { type ConditionChange, withCondition } from '../../apis/karpenter/conditions.ts';
import {
  SIMULATED_NODE_CLASS_CONDITIONS,
  SIMULATED_NODE_CLASSES,
  type SimulatedNodeClass,
  type SimulatedNodeClassStatus,
} from '../../apis/spindrift/simulated-node-class.ts';
import type { KubeClient } from '../../kube/client.ts';
import { Controller } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Clock, EpochMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { NodeClassReadiness } from '../enabled-cloud.ts';
import type { AccountSettings } from './account-settings.ts';
import type { NodeClassAccounts } from './node-class-accounts.ts';
import type { SimulatedCloud } from './simulated-cloud.ts';

export interface NodeClassControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly cloud: SimulatedCloud;
  readonly accounts: NodeClassAccounts;
  /** Started by its owner. */
  readonly nodeClasses: Informer<SimulatedNodeClass>;
  readonly logger?: Logger;
}

export class NodeClassController {
  readonly name = 'simulated.nodeclass';
  readonly #options: NodeClassControllerOptions;
  readonly #controller: Controller;

  constructor(options: NodeClassControllerOptions) {
    const { clock, logger } = options;
    this.#options = options;
    this.#controller = new Controller({
      name: this.name,
      clock,
      ...(logger && { logger }),
      reconcile: async (name, { signal }) => {
        await this.#reconcile(name, signal);
        return undefined;
      },
    });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = enqueueOn(this.#options.nodeClasses, this.#controller.queue);
    try {
      await this.#controller.run(signal);
    } finally {
      stop();
    }
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { client, clock, cloud, accounts, nodeClasses } = this.#options;
    const nodeClass = nodeClasses.get(name);
    if (nodeClass === undefined) {
      accounts.remove(name);
      return;
    }
    const readiness = accounts.apply(nodeClass);
    const status = nodeClassStatus(nodeClass, readiness, cloud.account(name)?.settings, clock.now());
    if (JSON.stringify(status) === JSON.stringify(nodeClass.status)) return;
    const { resourceVersion } = nodeClass.metadata;
    const body = { metadata: { resourceVersion }, status };
    await client.patch(SIMULATED_NODE_CLASSES, { name }, { type: 'merge', body }, { subresource: 'status', signal });
  }
}

/** The conditions of a node class: an unreadable catalogue and invalid settings are separate conditions. */
export function nodeClassStatus(
  nodeClass: SimulatedNodeClass,
  readiness: NodeClassReadiness,
  account: AccountSettings | undefined,
  now: EpochMs,
): SimulatedNodeClassStatus {
  const unreadable = readiness.reason === 'CatalogUnreadable';
  const condition = (type: string, fine: boolean): ConditionChange =>
    fine ? { type, status: 'True' } : { type, status: 'False', reason: readiness.reason, message: readiness.message };
  const changes = [
    condition('CatalogReady', !unreadable),
    condition('ValidationSucceeded', readiness.ready || unreadable),
  ];
  let conditions = nodeClass.status?.conditions ?? [];
  for (const change of changes) {
    const { metadata } = nodeClass;
    conditions = withCondition(SIMULATED_NODE_CLASS_CONDITIONS, { metadata, status: { conditions } }, change, now);
  }
  const sold = readiness.ready ? account : undefined;
  return {
    ...nodeClass.status,
    ...(sold && {
      instanceTypes: sold.catalogue.length,
      zones: sold.regions.flatMap(({ name: region, zones }) => zones.map((name) => ({ name, region }))),
    }),
    conditions,
  } as SimulatedNodeClassStatus;
}
