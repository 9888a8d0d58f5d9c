/** When a disruption budget holds: always, or for a while from each time of its schedule on. */
import type { EpochMs } from '../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../platform/errors.ts';
import { type CronSchedule, parseCron } from './cron.ts';
import { durationMs } from './duration.ts';
import { nextCronTime } from './next-cron-time.ts';
import type { DisruptionBudget } from './node-pool.ts';

/** A budget at an instant. */
export interface BudgetWindow {
  readonly active: boolean;
  /** When it next begins or ceases to hold, at the earliest; absent when it never does. */
  readonly changesAt?: EpochMs;
  /** Why its times cannot be read; such a budget holds always and allows nothing. */
  readonly problem?: string;
}

/** A window that is opened again before it closes is followed so many times; waking up too early does no harm. */
const FOLLOWED = 50;

const NEVER_COMES = 'no day is like that: write one that comes, as in 0 9 * * mon-fri';

/** The schedule of a budget; undefined for one that holds always. CRON_INVALID when it cannot be read or never comes. */
export function budgetSchedule({ schedule: text }: DisruptionBudget): CronSchedule | undefined {
  if (text === undefined) return undefined;
  const schedule = parseCron(text);
  if (nextCronTime(schedule, 0 as EpochMs) === undefined) {
    throw new SpindriftError('CRON_INVALID', { text, problem: NEVER_COMES });
  }
  return schedule;
}

/** Whether a budget holds at an instant: it does from each time of its schedule until its duration has passed. */
export function budgetWindow(budget: DisruptionBudget, now: EpochMs): BudgetWindow {
  const times = timesOf(budget);
  if (times === undefined) return { active: true };
  if ('problem' in times) return { active: true, problem: times.problem };
  const { schedule, duration } = times;
  const next = (after: number): number => nextCronTime(schedule, after as EpochMs) ?? Number.POSITIVE_INFINITY;
  let opened = next(now - duration);
  if (opened > now) return { active: false, changesAt: opened as EpochMs };
  for (let followed = 0; followed < FOLLOWED; followed++) {
    const again = next(opened);
    if (again > opened + duration) break;
    opened = again;
  }
  return { active: true, changesAt: (opened + duration) as EpochMs };
}

type Times = { readonly schedule: CronSchedule; readonly duration: number } | { readonly problem: string };

// Pools of the cache are never changed but replaced, so what was read from a budget holds as long as it lives.
const READ = new WeakMap<DisruptionBudget, Times>();

function timesOf(budget: DisruptionBudget): Times | undefined {
  if (budget.schedule === undefined) return undefined;
  const known = READ.get(budget);
  if (known !== undefined) return known;
  const times = readTimes(budget);
  READ.set(budget, times);
  return times;
}

function readTimes(budget: DisruptionBudget): Times {
  const duration = durationMs(budget.duration ?? '');
  if (duration === undefined || duration === 0) return { problem: 'it has a schedule and no duration' };
  try {
    const schedule = budgetSchedule(budget);
    return schedule === undefined ? { problem: 'it has no schedule' } : { schedule, duration };
  } catch (error) {
    if (!hasCode(error, 'CRON_INVALID')) throw error;
    return { problem: error.message };
  }
}
