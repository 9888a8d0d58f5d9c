import { keyOf } from '../../../apis/kubernetes/object.ts';
import { CRON_JOBS, type CronJob, JOBS, type Job } from '../../../apis/kubernetes/workloads.ts';
import type { ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import { hasCode } from '../../../platform/errors.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { controllerKey, controllerReference } from '../owned-pod.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';
import { writeStatus } from '../status-change.ts';
import { decideCronJob, jobName } from './decide-cron-job.ts';

/** Creates a Job at each scheduled time of a CronJob, and deletes old Jobs. */
export class CronJobController {
  readonly #options: ControllerOptions;
  readonly #loop: ReconcileLoop;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#loop = new ReconcileLoop(options, {
      name: 'cronjob',
      listen: (queue) => [
        enqueueOn(options.informers.cronJobs, queue),
        enqueueOn(options.informers.jobs, queue, (job) => {
          const key = controllerKey(job, 'CronJob');
          return key === undefined ? [] : [key];
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
    const { client, clock, informers, recorder } = this.#options;
    const cron = informers.cronJobs.get(key);
    if (cron === undefined) return undefined;
    const plan = decideCronJob(cron, informers.jobs.byIndex('controller', cron.metadata.uid ?? ''), clock.now());
    for (const job of plan.delete) await this.#delete(cron, job);
    if (plan.create !== undefined) await this.#create(cron, plan.create);
    if (plan.skipped !== undefined)
      recorder.record({
        object: cron,
        type: 'Normal',
        reason: 'JobAlreadyActive',
        message: 'Not starting job because prior execution is running and concurrency policy is Forbid',
      });
    await writeStatus(client, CRON_JOBS, cron, plan.status);
    return plan.againAfterMs === undefined ? undefined : { requeueAfterMs: plan.againAfterMs };
  }

  async #create(cron: CronJob, at: EpochMs): Promise<void> {
    const { client, recorder } = this.#options;
    const { metadata = {}, spec } = cron.spec.jobTemplate;
    const { namespace } = cron.metadata;
    const name = jobName(cron, at);
    const annotations = { ...metadata.annotations, 'batch.kubernetes.io/cronjob-scheduled-timestamp': toTimestamp(at) };
    const job: Job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name,
        ...(namespace !== undefined && { namespace }),
        ...(metadata.labels && { labels: metadata.labels }),
        annotations,
        ownerReferences: [controllerReference(cron)],
      },
      spec,
    };
    try {
      await client.create(JOBS, job);
      recorder.record({ object: cron, type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${name}` });
    } catch (error) {
      // It was created a moment ago, but the status does not show it yet.
      if (!hasCode(error, 'KUBE_ALREADY_EXISTS')) throw error;
    }
  }

  async #delete(cron: CronJob, job: Job): Promise<void> {
    const { client, recorder } = this.#options;
    try {
      await client.delete(JOBS, keyOf(job), { propagationPolicy: 'Background' });
      const message = `Deleted job ${job.metadata.name}`;
      recorder.record({ object: cron, type: 'Normal', reason: 'SuccessfulDelete', message });
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }
}
