import { compileLabelSelector } from '../../../apis/kubernetes/label-selector.ts';
import { keyOf, keyText } from '../../../apis/kubernetes/object.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS, type PodDisruptionBudget } from '../../../apis/kubernetes/pod-disruption-budget.ts';
import type { ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { controllerKey } from '../owned-pod.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';
import { writeStatus } from '../status-change.ts';
import { decideBudget } from './decide-budget.ts';

/** Updates the status of each PodDisruptionBudget, which decides whether evictions are allowed. */
export class DisruptionController {
  readonly #options: ControllerOptions;
  readonly #loop: ReconcileLoop;

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { informers } = options;
    const budgetsIn = (namespace: string | undefined): string[] =>
      informers.budgets.byIndex('namespace', namespace ?? '').map((budget) => keyText(keyOf(budget)));
    this.#loop = new ReconcileLoop(options, {
      name: 'disruption',
      listen: (queue) => [
        enqueueOn(informers.budgets, queue),
        enqueueOn(informers.pods, queue, (pod) =>
          informers.budgets
            .byIndex('namespace', pod.metadata.namespace ?? '')
            .filter((budget) => compileLabelSelector(budget.spec.selector).matches(pod.metadata.labels))
            .map((budget) => keyText(keyOf(budget))),
        ),
        // Percentages refer to the size of the workload, so a new size changes the result.
        enqueueOn(informers.deployments, queue, ({ metadata }) => budgetsIn(metadata.namespace)),
        enqueueOn(informers.statefulSets, queue, ({ metadata }) => budgetsIn(metadata.namespace)),
        enqueueOn(informers.replicaSets, queue, (replicaSet) =>
          controllerKey(replicaSet, 'Deployment') === undefined ? budgetsIn(replicaSet.metadata.namespace) : [],
        ),
      ],
      reconcile: (key) => this.#reconcile(key),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  async #reconcile(key: string): Promise<ReconcileResult | undefined> {
    const { client, clock, informers } = this.#options;
    const budget = informers.budgets.get(key);
    if (budget === undefined) return undefined;
    const pods = this.#podsOf(budget);
    const plan = decideBudget(budget, pods, this.#expectedScale(pods), clock.now());
    await writeStatus(client, POD_DISRUPTION_BUDGETS, budget, plan.status);
    return plan.againAfterMs === undefined ? undefined : { requeueAfterMs: plan.againAfterMs };
  }

  #podsOf(budget: PodDisruptionBudget): Pod[] {
    const selector = compileLabelSelector(budget.spec.selector);
    const pods = this.#options.informers.pods.byIndex('namespace', budget.metadata.namespace ?? '');
    return pods.filter((pod) => selector.matches(pod.metadata.labels));
  }

  /** The sum of the sizes of the pods' controllers; pods without a controller do not count. */
  #expectedScale(pods: readonly Pod[]): number {
    const scales = new Map<string, number>();
    for (const pod of pods) {
      const found = this.#scaleOf(pod);
      if (found !== undefined) scales.set(found.key, found.replicas);
    }
    return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
  }

  #scaleOf(pod: Pod): { readonly key: string; readonly replicas: number } | undefined {
    const { replicaSets, deployments, statefulSets } = this.#options.informers;
    const statefulSet = statefulSets.get(controllerKey(pod, 'StatefulSet') ?? '');
    if (statefulSet !== undefined)
      return { key: `StatefulSet ${keyText(keyOf(statefulSet))}`, replicas: statefulSet.spec.replicas ?? 1 };
    const replicaSet = replicaSets.get(controllerKey(pod, 'ReplicaSet') ?? '');
    if (replicaSet === undefined) return undefined;
    const deployment = deployments.get(controllerKey(replicaSet, 'Deployment') ?? '');
    if (deployment !== undefined)
      return { key: `Deployment ${keyText(keyOf(deployment))}`, replicas: deployment.spec.replicas ?? 1 };
    return { key: `ReplicaSet ${keyText(keyOf(replicaSet))}`, replicas: replicaSet.spec.replicas ?? 1 };
  }
}
