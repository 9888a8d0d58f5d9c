import { keyOf } from '../../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../../apis/kubernetes/pod.ts';
import { JOBS, type Job } from '../../../apis/kubernetes/workloads.ts';
import type { ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { hasCode } from '../../../platform/errors.ts';
import { patchNewest } from '../../patch-newest.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { Expectations } from '../expectations.ts';
import { PodControl, podFromTemplate } from '../owned-pod.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';
import { writeStatus } from '../status-change.ts';
import { decideJob, TRACKING_FINALIZER } from './decide-job.ts';
import { INDEX } from './job-indexes.ts';

/** Runs the pods of each Job until enough have succeeded or too many have failed. */
export class JobController {
  readonly #options: ControllerOptions;
  readonly #expectations: Expectations;
  readonly #pods: PodControl;
  readonly #loop: ReconcileLoop;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#expectations = new Expectations(options.clock);
    this.#pods = new PodControl(options, this.#expectations);
    this.#loop = new ReconcileLoop(options, {
      name: 'job',
      concurrency: 8,
      listen: (queue) => [enqueueOn(options.informers.jobs, queue), this.#pods.listen('Job', (key) => queue.add(key))],
      reconcile: (key) => this.#reconcile(key),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  async #reconcile(key: string): Promise<ReconcileResult | undefined> {
    const { client, clock, informers } = this.#options;
    const job = informers.jobs.get(key);
    const pods = job === undefined ? [] : informers.pods.byIndex('controller', job.metadata.uid ?? '');
    // Background deletion removes the Job first, and another one may have its name by now: it does not count these pods.
    const own = new Set(pods);
    for (const pod of informers.pods.byIndex('job', key)) if (!own.has(pod)) await this.#release(pod);
    if (job === undefined || job.metadata.deletionTimestamp !== undefined) {
      for (const pod of pods) await this.#release(pod);
      this.#expectations.forget(key);
      return undefined;
    }
    const plan = decideJob(job, pods, clock.now());
    if (plan.remove) {
      await this.#remove(job);
      return undefined;
    }
    await writeStatus(client, JOBS, job, plan.status);
    for (const pod of plan.release) await this.#release(pod);
    if (this.#expectations.satisfied(key)) {
      for (const pod of plan.delete) await this.#pods.delete(job, pod);
      for (const index of plan.create) await this.#pods.create(job, jobPod(job, index));
    }
    return plan.againAfterMs === undefined ? undefined : { requeueAfterMs: plan.againAfterMs };
  }

  async #release(pod: Pod): Promise<void> {
    if (!pod.metadata.finalizers?.includes(TRACKING_FINALIZER)) return;
    await patchNewest(this.#options.client, PODS, pod, ({ metadata }) => {
      const finalizers = (metadata.finalizers ?? []).filter((name) => name !== TRACKING_FINALIZER);
      return { metadata: { finalizers: finalizers.length === 0 ? null : finalizers } };
    });
  }

  async #remove(job: Job): Promise<void> {
    try {
      await this.#options.client.delete(JOBS, keyOf(job), { propagationPolicy: 'Foreground' });
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }
}

function jobPod(job: Job, index: number | undefined): Pod {
  const { name = '', uid = '' } = job.metadata;
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
    ...(index !== undefined && { [INDEX]: String(index) }),
  };
  const { annotations } = job.spec.template.metadata ?? {};
  return podFromTemplate(job, job.spec.template, {
    generateName: index === undefined ? `${name}-` : `${name}-${index}-`,
    labels,
    finalizers: [TRACKING_FINALIZER],
    ...(index === undefined
      ? annotations && { annotations }
      : { annotations: { ...annotations, [INDEX]: String(index) } }),
  });
}
