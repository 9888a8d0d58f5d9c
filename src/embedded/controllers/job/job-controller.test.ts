import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PODS } from '../../../apis/kubernetes/pod.ts';
import { JOBS, type Job } from '../../../apis/kubernetes/workloads.ts';
import { Kubelets } from '../../kubelet/kubelets.ts';
import { Scheduler } from '../../scheduler/scheduler.ts';
import { aJob } from '../../testkit/workloads.ts';
import { World } from '../../testkit/world.ts';
import { JobController } from './job-controller.ts';
import { intervals, parseIntervals } from './job-indexes.ts';

async function withJob(command: string[], spec: Partial<Job['spec']> = {}): Promise<World> {
  const world = new World();
  const kubelets = new Kubelets(world);
  await world.start(kubelets, new Scheduler(world), new JobController(world));
  await kubelets.join({ name: 'n1' });
  await world.create(JOBS, aJob('task', command, spec));
  await world.settle();
  return world;
}

const conditions = (job: Job): (string | undefined)[] =>
  (job.status?.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`);

describe('a Job', () => {
  it('runs a pod to its end and is complete', async () => {
    await using world = await withJob(['sleep', '5']);
    expect((await world.get(JOBS, 'task')).status).toMatchObject({ active: 1, startTime: '2030-01-01T00:00:00Z' });
    await world.settle(6_000);
    const job = await world.get(JOBS, 'task');
    expect(job.status).toMatchObject({ succeeded: 1, completionTime: '2030-01-01T00:00:05Z' });
    expect(job.status).not.toHaveProperty('active');
    expect(job.status?.uncountedTerminatedPods).toEqual({});
    expect(conditions(job)).toEqual(['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached']);
    const [pod] = await world.list(PODS);
    expect(pod?.metadata.finalizers).toBeUndefined();
    expect(pod?.metadata.labels).toMatchObject({ 'batch.kubernetes.io/job-name': 'task' });
  });

  it('runs as many at once as it may until enough have succeeded', async () => {
    await using world = await withJob(['sleep', '10'], { completions: 5, parallelism: 2 });
    const look = async (): Promise<unknown[]> => {
      const { status } = await world.get(JOBS, 'task');
      return [status?.active ?? 0, status?.succeeded ?? 0];
    };
    expect(await look()).toEqual([2, 0]);
    await world.settle(10_000);
    expect(await look()).toEqual([2, 2]);
    await world.settle(10_000);
    expect(await look()).toEqual([1, 4]);
    await world.settle(11_000);
    expect(await look()).toEqual([0, 5]);
    expect(await world.list(PODS)).toHaveLength(5);
  });

  it('holds none of its pods once it is gone', async () => {
    await using world = await withJob(['sleep', '600'], { completions: 2, parallelism: 2 });
    await world.client.delete(JOBS, { name: 'task', namespace: 'default' }, { propagationPolicy: 'Background' });
    await world.settle();
    expect((await world.list(PODS)).map(({ metadata }) => metadata.finalizers)).toEqual([undefined, undefined]);
  });

  it('holds none of the pods of an earlier Job of its name', async () => {
    await using world = await withJob(['sleep', '600'], { completions: 2, parallelism: 2 });
    const { uid } = (await world.get(JOBS, 'task')).metadata;
    await world.client.delete(JOBS, { name: 'task', namespace: 'default' }, { propagationPolicy: 'Background' });
    await world.create(JOBS, aJob('task', ['sleep', '600'], {}));
    await world.settle();
    const former = (await world.list(PODS)).filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid);
    expect(former.map(({ metadata }) => metadata.finalizers)).toEqual([undefined, undefined]);
  });

  it('fails when more pods have failed than it bears', async () => {
    await using world = await withJob(['false'], { backoffLimit: 2 });
    await world.settle(600_000);
    const job = await world.get(JOBS, 'task');
    expect(job.status?.failed).toBe(3);
    expect(conditions(job)).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded']);
    expect(await world.list(PODS)).toHaveLength(3);
  });

  it('waits before it starts the next pod after a failure, twice as long after each', async () => {
    await using world = await withJob(['false']);
    const seen: number[] = [];
    for (const seconds of [5, 6, 10, 11, 30, 11]) {
      await world.settle(seconds * 1000);
      seen.push((await world.list(PODS)).length);
    }
    expect(seen).toEqual([1, 2, 2, 3, 3, 4]);
  });

  it('without a number of completions starts no more pods after the first success, and lets the others finish', async () => {
    await using world = await withJob(['sleep', '10'], { parallelism: 2 });
    const [first] = await world.list(PODS);
    await world.change(PODS, first!.metadata.name!, { status: { phase: 'Succeeded' } }, 'status');
    await world.settle(5_000);
    expect((await world.get(JOBS, 'task')).status).toMatchObject({ active: 1, succeeded: 1 });
    await world.settle(10_000);
    expect(conditions(await world.get(JOBS, 'task'))).toContain('Complete CompletionsReached');
    expect(await world.list(PODS)).toHaveLength(2);
  });

  it('counts a running pod that is deleted as failed', async () => {
    await using world = await withJob(['sleep', '60']);
    const [pod] = await world.list(PODS);
    await world.client.delete(PODS, { name: pod!.metadata.name!, namespace: 'default' });
    await world.settle(1_000);
    expect((await world.get(JOBS, 'task')).status).toMatchObject({ failed: 1 });
  });

  it('fails, and its pods are ended, when it runs longer than its deadline', async () => {
    await using world = await withJob(['sleep', '1h'], { activeDeadlineSeconds: 30 });
    await world.settle(32_000);
    expect(conditions(await world.get(JOBS, 'task'))).toEqual([
      'FailureTarget DeadlineExceeded',
      'Failed DeadlineExceeded',
    ]);
    expect(await world.list(PODS)).toEqual([]);
  });

  it('counts a pod that was deleted after its end, once', async () => {
    await using world = await withJob(['sleep', '5'], { completions: 2, parallelism: 1 });
    await world.settle(5_000);
    const ended = (await world.list(PODS)).find(({ status }) => status?.phase === 'Succeeded')!;
    await world.client.delete(PODS, { name: ended.metadata.name!, namespace: 'default' });
    await world.settle(10_000);
    expect((await world.get(JOBS, 'task')).status).toMatchObject({ succeeded: 2 });
  });

  it('gives each pod an index of its own when it is indexed', async () => {
    await using world = await withJob(['sleep', '5'], { completions: 3, parallelism: 3, completionMode: 'Indexed' });
    await world.settle(6_000);
    expect((await world.get(JOBS, 'task')).status).toMatchObject({ succeeded: 3, completedIndexes: '0-2' });
    const names = (await world.list(PODS)).map(({ metadata }) => metadata.name?.replace(/-\w+$/, '')).sort();
    expect(names).toEqual(['task-0', 'task-1', 'task-2']);
  });

  it('starts nothing while it is suspended', async () => {
    await using world = await withJob(['sleep', '5'], { suspend: true });
    await world.settle(10_000);
    expect(await world.list(PODS)).toEqual([]);
    expect(conditions(await world.get(JOBS, 'task'))).toEqual(['Suspended JobSuspended']);
    await world.change(JOBS, 'task', { spec: { suspend: false } });
    await world.settle(6_000);
    expect((await world.get(JOBS, 'task')).status).toMatchObject({ succeeded: 1 });
  });

  it('is deleted when it has been finished for as long as it says', async () => {
    await using world = await withJob(['sleep', '5'], { ttlSecondsAfterFinished: 60 });
    await world.settle(60_000);
    expect((await world.get(JOBS, 'task')).metadata.deletionTimestamp).toBeUndefined();
    await world.settle(6_000);
    const left = (await world.list(JOBS)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(left).toEqual([]);
  });
});

describe('completed indexes', () => {
  it('are written as intervals', () => {
    expect(intervals([7, 0, 1, 2, 4, 5])).toBe('0-2,4,5,7');
  });

  it('are read back as they were', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(40)), (indexes) => {
        expect(parseIntervals(intervals(indexes))).toEqual([...indexes].sort((a, b) => a - b));
      }),
    );
  });
});
