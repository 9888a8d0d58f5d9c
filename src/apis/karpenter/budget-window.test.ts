import { describe, expect, it } from 'vitest';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';
import { budgetWindow } from './budget-window.ts';

const at = (text: string): EpochMs => parseTimestamp(text) as EpochMs;

function window(schedule: string, duration: string, now: string): { active: boolean; changesAt?: string } {
  const { active, changesAt } = budgetWindow({ nodes: '0', schedule, duration }, at(now));
  return { active, ...(changesAt === undefined ? {} : { changesAt: toTimestamp(changesAt) }) };
}

describe('a budget with a schedule', () => {
  it('opens at its time, holds for its duration and closes', () => {
    expect(window('0 2 * * *', '3h', '2026-05-05T01:59:59Z')).toEqual({
      active: false,
      changesAt: '2026-05-05T02:00:00Z',
    });
    expect(window('0 2 * * *', '3h', '2026-05-05T02:00:00Z')).toEqual({
      active: true,
      changesAt: '2026-05-05T05:00:00Z',
    });
    expect(window('0 2 * * *', '3h', '2026-05-05T04:59:59Z')).toMatchObject({ active: true });
    expect(window('0 2 * * *', '3h', '2026-05-05T05:00:00Z')).toEqual({
      active: false,
      changesAt: '2026-05-06T02:00:00Z',
    });
  });

  it('goes on when it comes again before it has closed', () => {
    expect(window('0 2,4 * * *', '3h', '2026-05-05T03:00:00Z')).toEqual({
      active: true,
      changesAt: '2026-05-05T07:00:00Z',
    });
  });

  it('can hold for longer than a day', () => {
    expect(window('0 18 * * fri', '60h', '2026-11-15T23:00:00Z')).toEqual({
      active: true,
      changesAt: '2026-11-16T06:00:00Z',
    });
  });

  it('that never ceases to hold is looked at again now and then', () => {
    const { active, changesAt = '' } = window('* * * * *', '1h', '2026-05-05T03:00:00Z');
    expect(active).toBe(true);
    expect(at(changesAt)).toBeGreaterThan(at('2026-05-05T03:00:00Z'));
  });

  it('keeps to the clocks of its zone in summer and winter', () => {
    const berlin = 'TZ=Europe/Berlin 0 9 * * mon-fri';
    expect(window(berlin, '8h', '2026-07-01T07:00:00Z')).toMatchObject({ active: true });
    expect(window(berlin, '8h', '2026-12-01T07:00:00Z')).toMatchObject({ active: false });
    expect(window(berlin, '8h', '2026-12-01T08:00:00Z')).toMatchObject({ active: true });
  });

  it('holds always, and says why, when it cannot be read', () => {
    expect(budgetWindow({ nodes: '5', schedule: '0 25 * * *', duration: '1h' }, at('2026-05-05T00:00:00Z'))).toEqual({
      active: true,
      problem: '0 25 * * * is not a schedule: hour is 0 to 23, but it is 25',
    });
    expect(budgetWindow({ nodes: '5', schedule: '@daily' }, at('2026-05-05T00:00:00Z')).problem).toContain('duration');
  });
});

describe('a budget without a schedule', () => {
  it('holds always', () => {
    expect(budgetWindow({ nodes: '10%' }, at('2026-05-05T00:00:00Z'))).toEqual({ active: true });
  });
});
