/**
 * Computes the next time of a schedule. With daylight saving, a local time that occurs twice counts twice; a local time that is
 * skipped counts at the moment of the jump, so that no day is left out.
 */
import type { EpochMs } from '../../platform/clock.ts';
import type { CronSchedule } from './cron.ts';
import { civilDay, type TimeZone } from './time-zone.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The 29th of February can be eight years away. */
const LONGEST_WAIT_DAYS = 8 * 366 + 1;

/** The first time of the schedule after an instant; undefined for a day that no calendar has, such as the 30th of February. */
export function nextCronTime(schedule: CronSchedule, after: EpochMs): EpochMs | undefined {
  const { zone } = schedule;
  // The day before, because clocks that go back can show the end of a day again.
  const firstDay = Math.floor((after + zone(after)) / DAY_MS) - 1;
  for (let day = firstDay; day <= firstDay + LONGEST_WAIT_DAYS; day++) {
    if (!comesOn(schedule, day)) continue;
    const found = firstOf(schedule, day * DAY_MS, after);
    if (found !== undefined) return found as EpochMs;
  }
  return undefined;
}

function comesOn({ daysOfMonth, months, daysOfWeek, anyDayOfMonth, anyDayOfWeek }: CronSchedule, day: number): boolean {
  const { month, day: dayOfMonth } = civilDay(day);
  if (!months.has(month)) return false;
  const inMonth = daysOfMonth.has(dayOfMonth);
  // 1970-01-01 was a Thursday.
  const inWeek = daysOfWeek.has((((day + 4) % 7) + 7) % 7);
  return anyDayOfMonth || anyDayOfWeek ? inMonth && inWeek : inMonth || inWeek;
}

/** The first instant after `after` at which the clocks show a time of the schedule on the day that begins with `midnight`. */
function firstOf({ hours, minutes, zone }: CronSchedule, midnight: number, after: number): number | undefined {
  const offsets = [...new Set([zone(midnight - DAY_MS), zone(midnight + 2 * DAY_MS)])];
  const [least, most] = [Math.min(...offsets), Math.max(...offsets)];
  let first = Number.POSITIVE_INFINITY;
  for (const hour of hours) {
    for (const minute of minutes) {
      const shown = midnight + (hour * 60 + minute) * MINUTE_MS;
      if (shown - least <= after || shown - most >= first) continue;
      for (const instant of instantsOf(shown, offsets, zone)) {
        if (instant > after && instant < first) first = instant;
      }
    }
  }
  return Number.isFinite(first) ? first : undefined;
}

/** The instants at which the clocks show a time: one, two when they go back over it, the jump when they jump over it. */
function instantsOf(shown: number, offsets: readonly number[], zone: TimeZone): number[] {
  const [only = 0] = offsets;
  if (offsets.length === 1) return [shown - only];
  const instants = offsets.map((offset) => shown - offset).filter((instant) => instant + zone(instant) === shown);
  return instants.length > 0 ? instants : [jumpOver(shown, zone)];
}

/** The first minute at which the clocks show more than `shown`. */
function jumpOver(shown: number, zone: TimeZone): number {
  let before = shown - 2 * DAY_MS;
  let behind = shown + 2 * DAY_MS;
  while (behind - before > MINUTE_MS) {
    const middle = before + Math.floor((behind - before) / 2 / MINUTE_MS) * MINUTE_MS;
    if (middle + zone(middle) > shown) behind = middle;
    else before = middle;
  }
  return behind;
}
