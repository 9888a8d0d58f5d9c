import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { decideSignals } from './decide-signals.ts';
import { noSignalSource } from './events.ts';
import { sayOfPool } from './say-of-pool.ts';

/** An agent may be installed, or a cloud become available, without a change of the pool. */
const PERIOD_MS = 60_000;

/** Sets on pools with spot capacity whether interruption notices arrive (`InterruptionSignals`). */
export class NodePoolSignals {
  readonly name = 'nodepool.signals';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;

  constructor(options: ControllersOptions) {
    this.#options = options;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => [enqueueOn(options.state.informers.nodePools, queue)],
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
    if (pool === undefined || !clouds.isOurs(pool)) return undefined;
    const tells = clouds.tellsOfInterruptions(pool.spec.template.spec.nodeClassRef);
    const change = decideSignals(pool, tells, state.informers.daemonSets.list());
    if (change !== undefined) {
      const before = pool.status?.conditions?.find(({ type }) => type === change.type)?.status;
      await sayOfPool(this.#options, pool, change, signal);
      if (change.status === 'False' && before !== 'False') recorder.record(noSignalSource(pool, change.message ?? ''));
    }
    return { requeueAfterMs: PERIOD_MS };
  }
}
