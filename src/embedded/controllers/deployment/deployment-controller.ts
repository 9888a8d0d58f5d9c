import { compileLabelSelector } from '../../../apis/kubernetes/label-selector.ts';
import { keyOf, keyText } from '../../../apis/kubernetes/object.ts';
import { DEPLOYMENTS, type Deployment, REPLICA_SETS, type ReplicaSet } from '../../../apis/kubernetes/workloads.ts';
import type { ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { hasCode } from '../../../platform/errors.ts';
import { carryOutAdoption, decideAdoption, isOrphan } from '../adoption.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { controllerKey, controllerUid } from '../owned-pod.ts';
import { isFinished } from '../pod-facts.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';
import { writeStatus } from '../status-change.ts';
import { type DeploymentPlan, decideDeployment, sizeAnnotations } from './decide-deployment.ts';
import { findNew, isRecreate, REVISION } from './deployment-facts.ts';
import type { Scaling } from './rolling-update.ts';

/** Rolls out the template and size of each Deployment through ReplicaSets. */
export class DeploymentController {
  readonly #options: ControllerOptions;
  readonly #loop: ReconcileLoop;

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { informers } = options;
    this.#loop = new ReconcileLoop(options, {
      name: 'deployment',
      listen: (queue) => [
        enqueueOn(informers.deployments, queue),
        enqueueOn(informers.replicaSets, queue, (replicaSet) => this.#ownersOf(replicaSet)),
        // The Recreate strategy waits for the last pod of the old template.
        informers.pods.addHandler({
          deleted: (pod) => {
            const replicaSet = informers.replicaSets.get(controllerKey(pod, 'ReplicaSet') ?? '');
            const owner = replicaSet === undefined ? undefined : controllerKey(replicaSet, 'Deployment');
            if (owner !== undefined) queue.add(owner);
          },
        }),
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
    const deployment = informers.deployments.get(key);
    if (deployment === undefined) return undefined;
    const owned = informers.replicaSets.byIndex('controller', deployment.metadata.uid ?? '');
    const orphans = informers.replicaSets.byIndex('orphan', deployment.metadata.namespace ?? '');
    const selector = compileLabelSelector(deployment.spec.selector);
    const adoption = decideAdoption(deployment, selector, owned, orphans);
    await carryOutAdoption(client, REPLICA_SETS, deployment, adoption);
    if (adoption.adopt.length > 0 || adoption.release.length > 0) return undefined;
    const replicaSets = owned;
    const plan = decideDeployment(deployment, replicaSets, this.#oldPodsRun(deployment, replicaSets), clock.now());
    if (plan.create !== undefined && !(await this.#create(deployment, plan.create))) return undefined;
    await this.#annotate(plan);
    for (const scaling of plan.scale) await this.#scale(deployment, scaling);
    for (const replicaSet of plan.delete) await this.#delete(replicaSet);
    await writeStatus(client, DEPLOYMENTS, deployment, plan.status);
    if (plan.revision !== undefined) {
      const body = { metadata: { annotations: { [REVISION]: plan.revision } } };
      await client.patch(DEPLOYMENTS, keyOf(deployment), { type: 'merge', body });
    }
    return plan.againAfterMs === undefined ? undefined : { requeueAfterMs: plan.againAfterMs };
  }

  /** The Deployment that controls a ReplicaSet, or the Deployments that could adopt it. */
  #ownersOf(replicaSet: ReplicaSet): string[] {
    const owner = controllerKey(replicaSet, 'Deployment');
    if (owner !== undefined) return [owner];
    if (!isOrphan(replicaSet)) return [];
    return this.#options.informers.deployments
      .byIndex('namespace', replicaSet.metadata.namespace ?? '')
      .filter(({ spec }) => compileLabelSelector(spec.selector).matches(replicaSet.metadata.labels))
      .map((deployment) => keyText(keyOf(deployment)));
  }

  #oldPodsRun(deployment: Deployment, replicaSets: readonly ReplicaSet[]): boolean {
    if (!isRecreate(deployment)) return false;
    const fresh = findNew(deployment, replicaSets);
    const { pods } = this.#options.informers;
    return replicaSets.some(
      (replicaSet) =>
        replicaSet !== fresh &&
        pods.byIndex('controller', replicaSet.metadata.uid ?? '').some((pod) => !isFinished(pod)),
    );
  }

  /** Returns false if the name is taken by another object; then another name is tried next. */
  async #create(deployment: Deployment, replicaSet: ReplicaSet): Promise<boolean> {
    const { client } = this.#options;
    try {
      await client.create(REPLICA_SETS, replicaSet);
      const replicas = replicaSet.spec.replicas ?? 0;
      if (replicas > 0)
        this.#say(deployment, `Scaled up replica set ${replicaSet.metadata.name} from 0 to ${replicas}`);
      return true;
    } catch (error) {
      if (!hasCode(error, 'KUBE_ALREADY_EXISTS')) throw error;
    }
    const found = await client.get(REPLICA_SETS, keyOf(replicaSet));
    if (controllerUid(found) === deployment.metadata.uid && findNew(deployment, [found]) !== undefined) return true;
    const status = { ...deployment.status, collisionCount: (deployment.status?.collisionCount ?? 0) + 1 };
    await writeStatus(client, DEPLOYMENTS, deployment, status);
    return false;
  }

  async #annotate({ annotate, scale }: DeploymentPlan): Promise<void> {
    if (annotate === undefined || scale.some(({ replicaSet }) => replicaSet === annotate.replicaSet)) return;
    const { replicaSet, annotations, minReadySeconds } = annotate;
    const { resourceVersion } = replicaSet.metadata;
    const body = { metadata: { resourceVersion, annotations }, spec: { minReadySeconds } };
    await this.#options.client.patch(REPLICA_SETS, keyOf(replicaSet), { type: 'merge', body });
  }

  async #scale(deployment: Deployment, { replicaSet, replicas }: Scaling): Promise<void> {
    const { resourceVersion, name } = replicaSet.metadata;
    const before = replicaSet.spec.replicas ?? 0;
    const body = { metadata: { resourceVersion, annotations: sizeAnnotations(deployment) }, spec: { replicas } };
    await this.#options.client.patch(REPLICA_SETS, keyOf(replicaSet), { type: 'merge', body });
    if (before === replicas) return;
    this.#say(
      deployment,
      `Scaled ${before < replicas ? 'up' : 'down'} replica set ${name} from ${before} to ${replicas}`,
    );
  }

  async #delete(replicaSet: ReplicaSet): Promise<void> {
    try {
      await this.#options.client.delete(REPLICA_SETS, keyOf(replicaSet), { propagationPolicy: 'Background' });
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }

  #say(deployment: Deployment, message: string): void {
    this.#options.recorder.record({ object: deployment, type: 'Normal', reason: 'ScalingReplicaSet', message });
  }
}
