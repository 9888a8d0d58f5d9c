import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { nodeClassNotReady } from './events.ts';
import { enqueuePoolsOfNodeClasses } from './pools-of-node-class.ts';
import { sayOfPool } from './say-of-pool.ts';

/** How often a node class that is not ready is checked: it may become ready without an event. */
const LOOK_AGAIN_MS = 5000;
/** How often a ready node class is checked. */
const PERIOD_MS = 60_000;

/** Sets on each pool whether its node class is ready (`NodeClassReady`, and with it `Ready`). */
export class NodePoolReadiness {
  readonly name = 'nodepool.readiness';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;

  constructor(options: ControllersOptions) {
    this.#options = options;
    const { informers } = options.state;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => [enqueueOn(informers.nodePools, queue), ...enqueuePoolsOfNodeClasses(informers, queue)],
      reconcile: (name, context) => this.#reconcile(name, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { clouds, recorder, state, writes } = this.#options;
    const pool = writes.newest(state.informers.nodePools.get(name));
    // Another autoscaler sets the conditions of its own pools.
    if (pool === undefined || !clouds.isOurs(pool)) return undefined;
    const change = this.#judge(pool);
    const said = await sayOfPool(this.#options, pool, change, signal);
    if (change.status === 'True') return { requeueAfterMs: PERIOD_MS };
    if (said) recorder.record(nodeClassNotReady(pool, change.message ?? ''));
    return { requeueAfterMs: LOOK_AGAIN_MS };
  }

  #judge(pool: NodePool): ConditionChange {
    const { ready, reason, message } = this.#options.clouds.readiness(pool.spec.template.spec.nodeClassRef);
    return ready
      ? { type: 'NodeClassReady', status: 'True' }
      : { type: 'NodeClassReady', status: 'False', reason, message };
  }
}
