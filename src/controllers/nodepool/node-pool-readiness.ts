import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { nodeClassNotReady } from './events.ts';
import { enqueuePoolsOfNodeClasses, nodeClassOf } from './pools-of-node-class.ts';
import { sayOfPool } from './say-of-pool.ts';

/** How often a node class is asked after that may become ready without anybody changing it. */
const LOOK_AGAIN_MS = 5000;
/** The same for one that is ready. */
const PERIOD_MS = 60_000;

/** Says on each pool whether its node class can be launched from (`NodeClassReady`, and with it `Ready`). */
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
    const { recorder, state, writes } = this.#options;
    const pool = writes.newest(state.informers.nodePools.get(name));
    if (pool === undefined) return undefined;
    const change = await this.#judge(pool, signal);
    const said = await sayOfPool(this.#options, pool, change, signal);
    if (change.status === 'True') return { requeueAfterMs: PERIOD_MS };
    if (said) recorder.record(nodeClassNotReady(pool, change.message ?? ''));
    return { requeueAfterMs: LOOK_AGAIN_MS };
  }

  async #judge(pool: NodePool, signal: AbortSignal): Promise<ConditionChange> {
    const { provider, state } = this.#options;
    const { nodeClassRef } = pool.spec.template.spec;
    const { group, kind } = provider.nodeClassKind;
    const no = (reason: string, message: string): ConditionChange => ({
      type: 'NodeClassReady',
      status: 'False',
      reason,
      message,
    });
    if (nodeClassRef.group !== group || nodeClassRef.kind !== kind) {
      const written = `${nodeClassRef.group}/${nodeClassRef.kind}`;
      return no(
        'NodeClassUnknown',
        `nodeClassRef is of ${written}, but the cloud ${provider.name} has ${group}/${kind}`,
      );
    }
    const nodeClass = nodeClassOf(state.informers, nodeClassRef);
    if (nodeClass === undefined) return no('NodeClassNotFound', `there is no ${kind} ${nodeClassRef.name}: create it`);
    if (nodeClass.metadata.deletionTimestamp !== undefined)
      return no('NodeClassTerminating', `${kind} ${nodeClassRef.name} is being deleted`);
    const { ready, reason, message } = await provider.readiness(nodeClassRef, signal);
    return ready ? { type: 'NodeClassReady', status: 'True' } : no(reason, message);
  }
}
