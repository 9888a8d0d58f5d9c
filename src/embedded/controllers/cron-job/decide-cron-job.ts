/** Decides the next steps of a CronJob. Pure. */
import { type CronSchedule, parseCron } from '../../../apis/karpenter/cron.ts';
import { nextCronTime } from '../../../apis/karpenter/next-cron-time.ts';
import type { CronJob, Job } from '../../../apis/kubernetes/workloads.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';

export interface CronJobPlan {
  /** The scheduled time for which to create a Job. */
  readonly create?: EpochMs;
  /** Jobs that a new Job replaces, and finished Jobs beyond the history limits. */
  readonly delete: readonly Job[];
  readonly status: NonNullable<CronJob['status']>;
  /** A scheduled time that is skipped because a running Job must end first. */
  readonly skipped?: EpochMs;
  readonly againAfterMs?: number;
}

/** The schedule with its time zone; throws CRON_INVALID if it is invalid. */
export function scheduleOf({ spec }: CronJob): CronSchedule {
  return parseCron(spec.timeZone === undefined ? spec.schedule : `TZ=${spec.timeZone} ${spec.schedule}`);
}

/** `jobs` are the Jobs of this CronJob. */
export function decideCronJob(cron: CronJob, jobs: readonly Job[], now: EpochMs): CronJobPlan {
  const { spec, status = {}, metadata } = cron;
  const running = jobs.filter((job) => outcomeOf(job) === undefined);
  const old = finishedTooLongAgo(cron, jobs);
  const last = {
    ...(status.lastScheduleTime !== undefined && { lastScheduleTime: status.lastScheduleTime }),
    ...lastSuccess(cron, jobs),
  };
  const active = running.map((job) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    ...(job.metadata.namespace !== undefined && { namespace: job.metadata.namespace }),
    ...(job.metadata.name !== undefined && { name: job.metadata.name }),
    ...(job.metadata.uid !== undefined && { uid: job.metadata.uid }),
  }));
  const idle = { delete: old, status: { ...last, ...(active.length > 0 && { active }) } };
  if (spec.suspend === true || metadata.deletionTimestamp !== undefined) return idle;
  const schedule = scheduleOf(cron);
  const next = nextCronTime(schedule, now);
  const again = next === undefined ? {} : { againAfterMs: next - now };
  const since = parseTimestamp(status.lastScheduleTime ?? metadata.creationTimestamp) ?? now;
  const inTime = now - (spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  const due = latestCronTime(schedule, Math.max(since, inTime) as EpochMs, now);
  if (due === undefined) return { ...idle, ...again };
  if (spec.concurrencyPolicy === 'Forbid' && running.length > 0) return { ...idle, ...again, skipped: due };
  const replaced = spec.concurrencyPolicy === 'Replace' ? running : [];
  const lastScheduleTime = toTimestamp(due);
  return {
    ...again,
    create: due,
    delete: [...old, ...replaced],
    status: { ...idle.status, lastScheduleTime },
  };
}

/** The name of the Job for a scheduled time: one name per minute, so that no Job is created twice. */
export function jobName({ metadata }: CronJob, at: EpochMs): string {
  return `${metadata.name}-${Math.floor(at / 60_000)}`;
}

const LOOK_BACK_MS = [60_000, 3_600_000, 86_400_000, 32 * 86_400_000, 366 * 86_400_000];

/** The last scheduled time after `since`, up to now. Of several missed times, only the last counts. */
function latestCronTime(schedule: CronSchedule, since: EpochMs, now: EpochMs): EpochMs | undefined {
  for (const backMs of LOOK_BACK_MS) {
    const from = Math.max(since, now - backMs) as EpochMs;
    let found: EpochMs | undefined;
    for (let at = nextCronTime(schedule, from); at !== undefined && at <= now; at = nextCronTime(schedule, at))
      found = at;
    if (found !== undefined || from === since) return found;
  }
  return undefined;
}

function outcomeOf({ status }: Job): 'Complete' | 'Failed' | undefined {
  const ended = status?.conditions?.find(
    (condition) => ['Complete', 'Failed'].includes(condition.type) && condition.status === 'True',
  );
  return ended?.type as 'Complete' | 'Failed' | undefined;
}

function lastSuccess({ status }: CronJob, jobs: readonly Job[]): { lastSuccessfulTime?: string } {
  const ends = jobs.flatMap((job) => (outcomeOf(job) === 'Complete' ? (job.status?.completionTime ?? []) : []));
  const latest = [...ends, ...(status?.lastSuccessfulTime === undefined ? [] : [status.lastSuccessfulTime])]
    .sort()
    .at(-1);
  return latest === undefined ? {} : { lastSuccessfulTime: latest };
}

/** Finished Jobs beyond the history limits, oldest first. */
function finishedTooLongAgo({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = spec;
  const beyond = (outcome: 'Complete' | 'Failed', limit: number): Job[] => {
    const ended = jobs.filter((job) => outcomeOf(job) === outcome && job.metadata.deletionTimestamp === undefined);
    const oldestFirst = ended.sort((a, b) => (startOf(a) < startOf(b) ? -1 : 1));
    return oldestFirst.slice(0, Math.max(0, oldestFirst.length - limit));
  };
  return [...beyond('Complete', successfulJobsHistoryLimit), ...beyond('Failed', failedJobsHistoryLimit)];
}

function startOf({ status, metadata }: Job): string {
  return status?.startTime ?? metadata.creationTimestamp ?? '';
}
