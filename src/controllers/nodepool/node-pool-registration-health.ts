import { type ConditionChange, conditionOf } from '../../apis/karpenter/conditions.ts';
import { NODE_REGISTRATION_HEALTHY, type NodePool } from '../../apis/karpenter/node-pool.ts';
import type { ReconcileContext } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { enqueuePoolsOfNodeClasses, nodeClassOf } from './pools-of-node-class.ts';
import type { RegistrationHealth } from './registration-health.ts';
import { sayOfPool } from './say-of-pool.ts';

export interface NodePoolRegistrationHealthOptions extends ControllersOptions {
  readonly health: RegistrationHealth;
}

/** Sets on each pool whether its latest nodes registered (`NodeRegistrationHealthy`). A change of the pool or node class resets it. */
export class NodePoolRegistrationHealth {
  readonly name = 'nodepool.registrationhealth';
  readonly #options: NodePoolRegistrationHealthOptions;
  readonly #controller: InformedController;

  constructor(options: NodePoolRegistrationHealthOptions) {
    this.#options = options;
    const { informers } = options.state;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => [
        enqueueOn(informers.nodePools, queue),
        ...enqueuePoolsOfNodeClasses(informers, queue),
        options.health.onResult((pool) => queue.add(pool)),
      ],
      reconcile: (name, context) => this.#reconcile(name, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<undefined> {
    const { clouds, health, state, writes } = this.#options;
    const pool = writes.newest(state.informers.nodePools.get(name));
    if (pool === undefined || !clouds.isOurs(pool)) return;
    const generation = nodeClassOf(state.informers, pool.spec.template.spec.nodeClassRef)?.metadata.generation;
    const said = conditionOf(pool, NODE_REGISTRATION_HEALTHY);
    const changed =
      said !== undefined &&
      (said.observedGeneration !== (pool.metadata.generation ?? 0) ||
        pool.status?.nodeClassObservedGeneration !== generation);
    const startsAnew = changed || said === undefined;
    if (startsAnew) health.reset(name);
    const change = startsAnew ? UNKNOWN : this.#judge(pool);
    if (change === undefined) return;
    const observed = generation === undefined ? {} : { nodeClassObservedGeneration: generation };
    await sayOfPool(this.#options, pool, change, signal, observed);
  }

  /** Undefined if this process has seen no node: the condition set by a former process still holds. */
  #judge(pool: NodePool): ConditionChange | undefined {
    const name = pool.metadata.name ?? '';
    const type = NODE_REGISTRATION_HEALTHY;
    switch (this.#options.health.of(name)) {
      case 'healthy':
        return { type, status: 'True' };
      case 'unhealthy': {
        const { reason = '', message = '' } = this.#options.health.lastFailure(name) ?? {};
        return { type, status: 'False', reason: reason || 'RegistrationFailed', message };
      }
      case 'unknown':
        return undefined;
    }
  }
}

const UNKNOWN: ConditionChange = {
  type: NODE_REGISTRATION_HEALTHY,
  status: 'Unknown',
  reason: 'AwaitingNodes',
  message: 'no node has registered since the pool or its node class changed',
};
