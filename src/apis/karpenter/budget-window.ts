/** Tells when a disruption budget is active: always, or for its duration after each time of its schedule. */
import type { EpochMs } from '../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../platform/errors.ts';
import { type CronSchedule, parseCron } from './cron.ts';
import { durationMs } from './duration.ts';
import { nextCronTime } from './next-cron-time.ts';
import type { DisruptionBudget } from './node-pool.ts';

/** The state of a budget at one moment. */
export interface BudgetWindow {
  readonly active: boolean;
  /** When it next becomes active or inactive, at the earliest; absent when it never changes. */
  readonly changesAt?: EpochMs;
  /** Why its schedule is invalid; such a budget is always active and allows no disruption. */
  readonly problem?: string;
}

/** How many overlapping windows are followed; a requeue that comes too early does no harm. */
const FOLLOWED = 50;

const NEVER_COMES = 'it matches no date: write one that occurs, as in 0 9 * * mon-fri';

/** The schedule of a budget; undefined for a budget that is always active. CRON_INVALID when it is invalid or matches no date. */
export function budgetSchedule({ schedule: text }: DisruptionBudget): CronSchedule | undefined {
  if (text === undefined) return undefined;
  const schedule = parseCron(text);
  if (nextCronTime(schedule, 0 as EpochMs) === undefined) {
    throw new SpindriftError('CRON_INVALID', { text, problem: NEVER_COMES });
  }
  return schedule;
}

/** Whether a budget is active: from each time of its schedule until its duration has passed. */
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

// Objects of the cache are replaced, never changed, so that the parsed schedule can be cached with the budget.
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
