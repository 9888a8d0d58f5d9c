import { compileLabelSelector } from '../../../apis/kubernetes/label-selector.ts';
import { keyOf, keyText } from '../../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../../apis/kubernetes/pod.ts';
import { REPLICA_SETS, type ReplicaSet } from '../../../apis/kubernetes/workloads.ts';
import type { ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { asError } from '../../../platform/errors.ts';
import { carryOutAdoption, decideAdoption, isOrphan } from '../adoption.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { Expectations } from '../expectations.ts';
import { PodControl, podFromTemplate } from '../owned-pod.ts';
import { isFinished } from '../pod-facts.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';
import { writeStatus } from '../status-change.ts';
import { decideReplicaSet } from './decide-replica-set.ts';

/** Keeps the desired number of pods for each ReplicaSet. */
export class ReplicaSetController {
  readonly #options: ControllerOptions;
  readonly #expectations: Expectations;
  readonly #pods: PodControl;
  readonly #loop: ReconcileLoop;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#expectations = new Expectations(options.clock);
    this.#pods = new PodControl(options, this.#expectations);
    this.#loop = new ReconcileLoop(options, {
      name: 'replicaset',
      concurrency: 8,
      listen: (queue) => [
        enqueueOn(options.informers.replicaSets, queue),
        this.#pods.listen('ReplicaSet', (key) => queue.add(key)),
        enqueueOn(options.informers.pods, queue, (pod) => this.#possibleOwners(pod)),
      ],
      reconcile: (key) => this.#reconcile(key),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  /** The ReplicaSets that could adopt a pod without a controller. */
  #possibleOwners(pod: Pod): string[] {
    if (!isOrphan(pod)) return [];
    return this.#options.informers.replicaSets
      .byIndex('namespace', pod.metadata.namespace ?? '')
      .filter(({ spec }) => compileLabelSelector(spec.selector).matches(pod.metadata.labels))
      .map((replicaSet) => keyText(keyOf(replicaSet)));
  }

  async #reconcile(key: string): Promise<ReconcileResult | undefined> {
    const { client, clock, informers } = this.#options;
    const replicaSet = informers.replicaSets.get(key);
    if (replicaSet === undefined) {
      this.#expectations.forget(key);
      return undefined;
    }
    const owned = informers.pods.byIndex('controller', replicaSet.metadata.uid ?? '');
    const orphans = informers.pods
      .byIndex('orphan', replicaSet.metadata.namespace ?? '')
      .filter((pod) => !isFinished(pod));
    const selector = compileLabelSelector(replicaSet.spec.selector);
    const adoption = decideAdoption(replicaSet, selector, owned, orphans);
    await carryOutAdoption(client, PODS, replicaSet, adoption);
    // Adopted pods count at once, even if the cache does not show the adoption yet.
    const kept = adoption.release.length === 0 ? owned : owned.filter((pod) => !adoption.release.includes(pod));
    const pods = adoption.adopt.length === 0 ? kept : [...kept, ...adoption.adopt];
    const plan = decideReplicaSet(replicaSet, pods, clock.now());
    let failure: Error | undefined;
    if (this.#expectations.satisfied(key)) {
      failure = await this.#create(replicaSet, plan.create);
      for (const pod of plan.delete) await this.#pods.delete(replicaSet, pod);
    }
    const { status } = failure === undefined ? plan : decideReplicaSet(replicaSet, pods, clock.now(), failure.message);
    await writeStatus(client, REPLICA_SETS, replicaSet, status);
    if (failure !== undefined) throw failure;
    return plan.againAfterMs === undefined ? undefined : { requeueAfterMs: plan.againAfterMs };
  }

  /** Stops at the first failure: the next pod would fail for the same reason. */
  async #create(replicaSet: ReplicaSet, count: number): Promise<Error | undefined> {
    const { name } = keyOf(replicaSet);
    const pod = podFromTemplate(replicaSet, replicaSet.spec.template, { generateName: `${name}-` });
    for (let made = 0; made < count; made++) {
      try {
        await this.#pods.create(replicaSet, pod);
      } catch (error) {
        return asError(error);
      }
    }
    return undefined;
  }
}
