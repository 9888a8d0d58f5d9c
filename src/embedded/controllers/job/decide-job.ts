/** Next steps of a Job: start or stop pods, count ended pods, declare its end. Pure. */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { Job, WorkloadCondition } from '../../../apis/kubernetes/workloads.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { isFinished, isReady, isTerminating } from '../pod-facts.ts';
import { compact, unlessZero } from '../status-change.ts';
import { indexOf, intervals, parseIntervals } from './job-indexes.ts';

/** Holds a pod until the Job's status has counted it. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';

export interface JobPlan {
  /** The indexes to start pods for; one `undefined` per pod if the Job is not indexed. */
  readonly create: readonly (number | undefined)[];
  readonly delete: readonly Pod[];
  /** Pods that the status, as read, has already counted; their finalizer can be removed. */
  readonly release: readonly Pod[];
  readonly status: Readonly<Record<string, unknown>>;
  readonly againAfterMs: number | undefined;
  /** Whether to delete the Job itself. */
  readonly remove: boolean;
}

interface Uncounted {
  readonly succeeded?: readonly string[];
  readonly failed?: readonly string[];
}

const DEFAULT_BACKOFF_LIMIT = 6;
const FIRST_BACK_OFF_MS = 10_000;
const LONGEST_BACK_OFF_MS = 600_000;

export function decideJob(job: Job, pods: readonly Pod[], now: number): JobPlan {
  const { parallelism = 1, backoffLimit = DEFAULT_BACKOFF_LIMIT, suspend = false, completionMode } = job.spec;
  const indexed = completionMode === 'Indexed';
  const completions = job.spec.completions ?? (job.spec.parallelism === undefined ? 1 : undefined);
  const time = toTimestamp(now as EpochMs);
  const tally = count(job, pods, indexed);
  const running = pods.filter((pod) => !isFinished(pod) && !isTerminating(pod));
  const finished = endOf(job);
  const startedAt = suspend ? undefined : (parseTimestamp(job.status?.startTime) ?? now);
  const deadline =
    job.spec.activeDeadlineSeconds === undefined || startedAt === undefined
      ? undefined
      : startedAt + job.spec.activeDeadlineSeconds * 1000;
  const verdict =
    finished === undefined
      ? judge({ tally, backoffLimit, completions, deadline, now, running: running.length })
      : undefined;
  const over = finished !== undefined || verdict !== undefined || job.metadata.deletionTimestamp !== undefined;
  // Without a number of completions, no more pods are started after the first success; running pods continue.
  const needed =
    completions === undefined ? (tally.succeeded > 0 ? running.length : parallelism) : completions - tally.succeeded;
  const wanted = over || suspend ? 0 : Math.min(parallelism, needed);
  const surplus = running.length - wanted;
  const resumesAt = backOffEnd(pods);
  const room = resumesAt > now ? 0 : Math.max(0, -surplus);
  const started = indexed
    ? missingIndexes(running, tally.doneIndexes, completions ?? 0, room)
    : Array<undefined>(room).fill(undefined);
  const nextLook = Math.min(
    deadline ?? Number.POSITIVE_INFINITY,
    surplus < 0 && resumesAt > now ? resumesAt : Number.POSITIVE_INFINITY,
  );
  const terminating = pods.filter((pod) => isTerminating(pod) && !isFinished(pod)).length;
  // The end is declared after the last pod has ended, so that no pod of the Job runs after it.
  const declared = verdict !== undefined && running.length === 0 && terminating === 0 && tally.uncounted === undefined;
  const ttlAt = expiry(job);
  return {
    create: started,
    delete: surplus > 0 ? running.slice(0, surplus) : [],
    release: tally.counted,
    status: compact({
      active: unlessZero(running.length),
      ready: running.filter(isReady).length,
      terminating,
      succeeded: unlessZero(tally.succeeded),
      failed: unlessZero(tally.failed),
      completedIndexes: indexed ? intervals(tally.doneIndexes) : undefined,
      startTime: suspend ? undefined : (job.status?.startTime ?? time),
      completionTime: declared && verdict.type === 'Complete' ? time : job.status?.completionTime,
      uncountedTerminatedPods: tally.uncounted ?? {},
      conditions: conditions(job, verdict, declared, time),
    }),
    againAfterMs: finished === undefined ? wait(nextLook, now) : wait(ttlAt, now),
    remove: ttlAt !== undefined && ttlAt <= now && job.metadata.deletionTimestamp === undefined,
  };
}

interface Tally {
  readonly succeeded: number;
  readonly failed: number;
  readonly doneIndexes: ReadonlySet<number>;
  /** Pods that the status must list until they are released. */
  readonly uncounted: Uncounted | undefined;
  readonly counted: readonly Pod[];
}

/** Adds pods that ended since then to the counts in the status. */
function count(job: Job, pods: readonly Pod[], indexed: boolean): Tally {
  const known = (job.status?.uncountedTerminatedPods ?? {}) as Uncounted;
  const before = new Set([...(known.succeeded ?? []), ...(known.failed ?? [])]);
  const held = pods.filter(({ metadata }) => metadata.finalizers?.includes(TRACKING_FINALIZER));
  const ended = held.filter((pod) => isFinished(pod));
  const fresh = ended.filter(({ metadata }) => !before.has(metadata.uid ?? ''));
  const stillHeld = ended.filter(({ metadata }) => before.has(metadata.uid ?? ''));
  const uids = (list: readonly Pod[], phase: string): string[] =>
    list.filter(({ status }) => status?.phase === phase).map(({ metadata }) => metadata.uid ?? '');
  const succeededNow = uids(fresh, 'Succeeded');
  const failedNow = uids(fresh, 'Failed');
  const doneIndexes = new Set(parseIntervals(job.status?.completedIndexes ?? ''));
  if (indexed) for (const pod of ended) if (pod.status?.phase === 'Succeeded') doneIndexes.add(indexOf(pod) ?? -1);
  doneIndexes.delete(-1);
  const uncounted = {
    succeeded: [...uids(stillHeld, 'Succeeded'), ...succeededNow],
    failed: [...uids(stillHeld, 'Failed'), ...failedNow],
  };
  const none = uncounted.succeeded.length === 0 && uncounted.failed.length === 0;
  return {
    succeeded: indexed ? doneIndexes.size : (job.status?.succeeded ?? 0) + succeededNow.length,
    failed: (job.status?.failed ?? 0) + failedNow.length,
    doneIndexes,
    uncounted: none
      ? undefined
      : compact({ succeeded: nonEmpty(uncounted.succeeded), failed: nonEmpty(uncounted.failed) }),
    counted: stillHeld,
  };
}

interface Verdict {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

function judge(state: {
  readonly tally: Tally;
  readonly backoffLimit: number;
  readonly completions: number | undefined;
  readonly deadline: number | undefined;
  readonly now: number;
  readonly running: number;
}): Verdict | undefined {
  const { tally, backoffLimit, completions, deadline, now, running } = state;
  if (tally.failed > backoffLimit) {
    return { type: 'Failed', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  }
  if (deadline !== undefined && deadline <= now) {
    return { type: 'Failed', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
  }
  const complete = completions === undefined ? tally.succeeded > 0 && running === 0 : tally.succeeded >= completions;
  return complete
    ? { type: 'Complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
    : undefined;
}

/** When a pod may be started again after failures. Each failure since the last success doubles the wait. */
function backOffEnd(pods: readonly Pod[]): number {
  const ends = (phase: string): number[] => pods.filter(({ status }) => status?.phase === phase).map(finishedAt);
  const lastSuccess = Math.max(0, ...ends('Succeeded'));
  const failures = ends('Failed').filter((end) => end > lastSuccess);
  if (failures.length === 0) return 0;
  return Math.max(...failures) + Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (failures.length - 1));
}

function finishedAt(pod: Pod): number {
  const ends = (pod.status?.containerStatuses ?? []).map(
    ({ state }) =>
      parseTimestamp((state as { terminated?: { finishedAt?: string } } | undefined)?.terminated?.finishedAt) ?? 0,
  );
  return Math.max(0, ...ends);
}

function missingIndexes(
  running: readonly Pod[],
  done: ReadonlySet<number>,
  completions: number,
  room: number,
): number[] {
  const taken = new Set(running.map(indexOf));
  const missing: number[] = [];
  for (let index = 0; index < completions && missing.length < room; index++) {
    if (!taken.has(index) && !done.has(index)) missing.push(index);
  }
  return missing;
}

function conditions(
  job: Job,
  verdict: Verdict | undefined,
  declared: boolean,
  time: string,
): readonly WorkloadCondition[] | undefined {
  const known = job.status?.conditions ?? [];
  const of = (type: string, reason: string, message: string): WorkloadCondition => ({
    type,
    status: 'True',
    reason,
    message,
    lastProbeTime: time,
    lastTransitionTime: time,
  });
  if (verdict === undefined) {
    const suspended = known.find(({ type }) => type === 'Suspended');
    if (job.spec.suspend && suspended?.status !== 'True') {
      return [...known.filter(({ type }) => type !== 'Suspended'), of('Suspended', 'JobSuspended', 'Job suspended')];
    }
    if (!job.spec.suspend && suspended?.status === 'True') {
      const resumed = { ...of('Suspended', 'JobResumed', 'Job resumed'), status: 'False' as const };
      return [...known.filter(({ type }) => type !== 'Suspended'), resumed];
    }
    return known.length === 0 ? undefined : known;
  }
  const intent = verdict.type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
  const list = known.some(({ type }) => type === intent)
    ? [...known]
    : [...known, of(intent, verdict.reason, verdict.message)];
  if (declared) list.push(of(verdict.type, verdict.reason, verdict.message));
  return list;
}

function endOf(job: Job): WorkloadCondition | undefined {
  return job.status?.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
}

/** When the finished Job is deleted. */
function expiry(job: Job): number | undefined {
  const end = parseTimestamp(endOf(job)?.lastTransitionTime);
  const seconds = job.spec.ttlSecondsAfterFinished;
  return end === undefined || seconds === undefined ? undefined : end + seconds * 1000;
}

function wait(at: number | undefined, now: number): number | undefined {
  return at === undefined || at <= now || at === Number.POSITIVE_INFINITY ? undefined : at - now;
}

function nonEmpty(list: readonly string[]): readonly string[] | undefined {
  return list.length === 0 ? undefined : list;
}
