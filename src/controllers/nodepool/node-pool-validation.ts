import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import { CORE_LABEL_RULES, type LabelRules } from '../../apis/karpenter/label-rules.ts';
import { describeProblems, nodePoolProblems } from '../../apis/karpenter/validate-node-pool.ts';
import type { ReconcileContext } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { validationFailed } from './events.ts';
import { sayOfPool } from './say-of-pool.ts';

export interface NodePoolValidationOptions extends ControllersOptions {
  /** Which labels a pool may speak of; a cloud adds its own. */
  readonly labelRules?: LabelRules;
}

/** Says on each pool whether all of it makes sense (`ValidationSucceeded`). */
export class NodePoolValidation {
  readonly name = 'nodepool.validation';
  readonly #options: NodePoolValidationOptions;
  readonly #controller: InformedController;

  constructor(options: NodePoolValidationOptions) {
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

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<undefined> {
    const { state, recorder, labelRules = CORE_LABEL_RULES, writes } = this.#options;
    const pool = writes.newest(state.informers.nodePools.get(name));
    if (pool === undefined) return;
    const problems = nodePoolProblems(pool, labelRules);
    const message = problems.length === 0 ? '' : describeProblems(pool, problems);
    const change: ConditionChange =
      problems.length === 0
        ? { type: 'ValidationSucceeded', status: 'True' }
        : { type: 'ValidationSucceeded', status: 'False', reason: 'NodePoolValidationFailed', message };
    const said = await sayOfPool(this.#options, pool, change, signal);
    if (said && problems.length > 0) recorder.record(validationFailed(pool, message));
  }
}
