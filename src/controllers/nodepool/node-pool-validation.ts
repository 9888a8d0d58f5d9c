import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import { CORE_LABEL_RULES, extendLabelRules, type LabelRules } from '../../apis/karpenter/label-rules.ts';
import { describeProblems, nodePoolDoubts, nodePoolProblems } from '../../apis/karpenter/validate-node-pool.ts';
import type { ReconcileContext } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { partlyIgnored, validationFailed } from './events.ts';
import { sayOfPool } from './say-of-pool.ts';

export interface NodePoolValidationOptions extends ControllersOptions {
  /** Labels that a pool may use; a cloud adds its own. */
  readonly labelRules?: LabelRules;
}

/** Validates each pool beyond its schema (`ValidationSucceeded`). */
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
    const { state, recorder, clouds, writes } = this.#options;
    const pool = writes.newest(state.informers.nodePools.get(name));
    const cloudLabels = pool && clouds.labelsOf(pool.spec.template.spec.nodeClassRef);
    if (pool === undefined || cloudLabels === undefined) return;
    const { labelRules = extendLabelRules(CORE_LABEL_RULES, cloudLabels) } = this.#options;
    const problems = nodePoolProblems(pool, labelRules);
    const doubts = problems.length === 0 ? nodePoolDoubts(pool, labelRules) : [];
    const message = describeProblems(pool, [...problems, ...doubts]);
    const change: ConditionChange =
      problems.length === 0
        ? { type: 'ValidationSucceeded', status: 'True', message }
        : { type: 'ValidationSucceeded', status: 'False', reason: 'NodePoolValidationFailed', message };
    const said = await sayOfPool(this.#options, pool, change, signal);
    if (said && problems.length > 0) recorder.record(validationFailed(pool, message));
    if (said && doubts.length > 0) recorder.record(partlyIgnored(pool, message));
  }
}
