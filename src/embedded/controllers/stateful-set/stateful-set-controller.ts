import { keyOf } from '../../../apis/kubernetes/object.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../apis/kubernetes/volumes.ts';
import {
  type ControllerRevision,
  type PodTemplateSpec,
  STATEFUL_SETS,
  type StatefulSet,
} from '../../../apis/kubernetes/workloads.ts';
import type { ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { hasCode } from '../../../platform/errors.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { Expectations } from '../expectations.ts';
import { PodControl } from '../owned-pod.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';
import { decideRevisions, REVISION_LABEL, writeRevisions } from '../revisions.ts';
import { writeStatus } from '../status-change.ts';
import { decideStatefulSet } from './decide-stateful-set.ts';
import { statefulClaims, statefulPod } from './stateful-pod.ts';

/** Keeps the pods of each StatefulSet, and the claims of each ordinal. */
export class StatefulSetController {
  readonly #options: ControllerOptions;
  readonly #expectations: Expectations;
  readonly #pods: PodControl;
  readonly #loop: ReconcileLoop;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#expectations = new Expectations(options.clock);
    this.#pods = new PodControl(
      options,
      this.#expectations,
      (verb, pod, owner) => `${verb} Pod ${pod} in StatefulSet ${owner.metadata.name} successful`,
    );
    this.#loop = new ReconcileLoop(options, {
      name: 'statefulset',
      listen: (queue) => [
        enqueueOn(options.informers.statefulSets, queue),
        this.#pods.listen('StatefulSet', (key) => queue.add(key)),
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
    const set = informers.statefulSets.get(key);
    if (set === undefined) {
      this.#expectations.forget(key);
      return undefined;
    }
    const uid = set.metadata.uid ?? '';
    const pods = informers.pods.byIndex('controller', uid);
    const existing = informers.revisions.byIndex('controller', uid);
    const inUse = new Set(pods.map(({ metadata }) => metadata.labels?.[REVISION_LABEL] ?? ''));
    if (set.status?.currentRevision !== undefined) inUse.add(set.status.currentRevision);
    const revisions = decideRevisions(set, existing, inUse, 'controller.kubernetes.io/hash');
    if (set.metadata.deletionTimestamp === undefined) await writeRevisions(client, revisions);
    const plan = decideStatefulSet(set, pods, revisions.update.metadata.name ?? '', clock.now());
    if (this.#expectations.satisfied(key)) {
      for (const pod of plan.delete) await this.#pods.delete(set, pod);
      for (const { ordinal, revision } of plan.create) {
        const template = templateOf([...existing, revisions.update], revision) ?? set.spec.template;
        await this.#create(set, template, ordinal, revision);
      }
    }
    await writeStatus(client, STATEFUL_SETS, set, plan.status);
    return plan.againAfterMs === undefined ? undefined : { requeueAfterMs: plan.againAfterMs };
  }

  async #create(set: StatefulSet, template: PodTemplateSpec, ordinal: number, revision: string): Promise<void> {
    for (const claim of statefulClaims(set, ordinal)) {
      try {
        await this.#options.client.create(PERSISTENT_VOLUME_CLAIMS, claim);
      } catch (error) {
        if (!hasCode(error, 'KUBE_ALREADY_EXISTS')) throw error;
      }
    }
    await this.#pods.create(set, statefulPod(set, template, ordinal, revision));
  }
}

/** The template stored in a revision. */
function templateOf(revisions: readonly ControllerRevision[], name: string): PodTemplateSpec | undefined {
  const found = revisions.find((revision) => keyOf(revision).name === name)?.data as
    | { readonly spec?: { readonly template?: PodTemplateSpec & { readonly $patch?: string } } }
    | undefined;
  if (found?.spec?.template === undefined) return undefined;
  const { $patch: _, ...template } = found.spec.template;
  return template;
}
