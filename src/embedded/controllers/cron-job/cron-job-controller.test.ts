import { describe, expect, it } from 'vitest';
import { CRON_JOBS, type CronJob, JOBS } from '../../../apis/kubernetes/workloads.ts';
import { parseTimestamp } from '../../../platform/clock.ts';
import { Kubelets } from '../../kubelet/kubelets.ts';
import { Scheduler } from '../../scheduler/scheduler.ts';
import { aJob } from '../../testkit/workloads.ts';
import { World } from '../../testkit/world.ts';
import { JobController } from '../job/job-controller.ts';
import { CronJobController } from './cron-job-controller.ts';

const MINUTE = 60_000;

function aCronJob(seconds: number, spec: Partial<CronJob['spec']> = {}): CronJob {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'report', namespace: 'default' },
    spec: { schedule: '* * * * *', jobTemplate: { spec: aJob('', ['sleep', String(seconds)]).spec }, ...spec },
  };
}

/** Time begins at 2030-01-01T00:00:00Z. */
async function withCronJob(cron: CronJob): Promise<World> {
  const world = new World();
  const kubelets = new Kubelets(world);
  await world.start(kubelets, new Scheduler(world), new JobController(world), new CronJobController(world));
  await kubelets.join({ name: 'n1' });
  await world.create(CRON_JOBS, cron);
  await world.settle();
  return world;
}

const names = async (world: World): Promise<(string | undefined)[]> =>
  (await world.list(JOBS)).map(({ metadata }) => metadata.name).sort();

describe('a CronJob', () => {
  it('makes a Job each time that its schedule comes, and says when it did', async () => {
    await using world = await withCronJob(aCronJob(5));
    expect(await names(world)).toEqual([]);
    await world.settle(MINUTE);
    const minute = (parseTimestamp('2030-01-01T00:01:00Z') ?? 0) / MINUTE;
    expect(await names(world)).toEqual([`report-${minute}`]);
    expect((await world.get(CRON_JOBS, 'report')).status).toMatchObject({
      lastScheduleTime: '2030-01-01T00:01:00Z',
      active: [{ name: `report-${minute}` }],
    });
    await world.settle(MINUTE);
    expect(await names(world)).toEqual([`report-${minute}`, `report-${minute + 1}`]);
    expect((await world.get(CRON_JOBS, 'report')).status?.lastSuccessfulTime).toBe('2030-01-01T00:01:05Z');
    const [job] = await world.list(JOBS);
    expect(job?.metadata.ownerReferences).toMatchObject([{ kind: 'CronJob', name: 'report', controller: true }]);
  });

  it('keeps as many finished Jobs as it is told to', async () => {
    await using world = await withCronJob(aCronJob(1, { successfulJobsHistoryLimit: 2 }));
    await world.settle(6.5 * MINUTE);
    expect(await names(world)).toHaveLength(2);
  });

  it.each([
    ['Allow', 3],
    ['Forbid', 1],
    ['Replace', 1],
  ] as const)(
    'under the policy %s has %i Jobs when each takes longer than the schedule',
    async (concurrencyPolicy, count) => {
      await using world = await withCronJob(aCronJob(600, { concurrencyPolicy }));
      await world.settle(3.5 * MINUTE);
      const running = (await world.list(JOBS)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      expect(running).toHaveLength(count);
      const newest = running
        .map(({ metadata }) => metadata.creationTimestamp)
        .sort()
        .at(-1);
      expect(newest).toBe(concurrencyPolicy === 'Forbid' ? '2030-01-01T00:01:00Z' : '2030-01-01T00:03:00Z');
    },
  );

  it('does nothing while it is suspended, and afterwards only what was missed last', async () => {
    await using world = await withCronJob(aCronJob(1, { suspend: true }));
    await world.settle(10.5 * MINUTE);
    expect(await names(world)).toEqual([]);
    await world.change(CRON_JOBS, 'report', { spec: { suspend: false } });
    await world.settle();
    expect(await names(world)).toHaveLength(1);
  });

  it('follows the clocks of its time zone', async () => {
    await using world = await withCronJob(aCronJob(1, { schedule: '30 1 * * *', timeZone: 'Europe/Berlin' }));
    await world.settle(29 * MINUTE);
    expect(await names(world)).toEqual([]);
    await world.settle(2 * MINUTE);
    expect(await names(world)).toHaveLength(1);
  });

  it('is refused with a schedule or a time zone that there is not', async () => {
    await using world = new World();
    await expect(world.create(CRON_JOBS, aCronJob(1, { schedule: 'daily' }))).rejects.toThrow('spec.schedule');
    await expect(world.create(CRON_JOBS, aCronJob(1, { timeZone: 'Mars' }))).rejects.toThrow('spec.timeZone');
  });
});
