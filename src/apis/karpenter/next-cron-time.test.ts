import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';
import { parseCron } from './cron.ts';
import { nextCronTime } from './next-cron-time.ts';

const at = (text: string): EpochMs => parseTimestamp(text) as EpochMs;

/** The times of a schedule after an instant, one after the other. */
function times(schedule: string, after: string, count: number): string[] {
  const cron = parseCron(schedule);
  const found: string[] = [];
  let last = at(after);
  while (found.length < count) {
    const next = nextCronTime(cron, last);
    if (next === undefined) break;
    found.push(toTimestamp(next).slice(0, 16));
    last = next;
  }
  return found;
}

describe('the next time of a schedule', () => {
  it('comes after the instant, never at it', () => {
    expect(times('0 2 * * *', '2026-03-01T02:00:00Z', 1)).toEqual(['2026-03-02T02:00']);
    expect(times('0 2 * * *', '2026-03-01T01:59:59.999Z', 1)).toEqual(['2026-03-01T02:00']);
  });

  it('goes from the day of the week to the day of the month and to leap years', () => {
    expect(times('0 9 * * mon-fri', '2026-11-13T12:00:00Z', 2)).toEqual(['2026-11-16T09:00', '2026-11-17T09:00']);
    expect(times('30 23 31 * *', '2026-01-31T23:30:00Z', 2)).toEqual(['2026-03-31T23:30', '2026-05-31T23:30']);
    expect(times('0 0 29 2 *', '2096-02-29T00:00:00Z', 1)).toEqual(['2104-02-29T00:00']);
  });

  it('comes on either of two days that are both given', () => {
    expect(times('0 0 13 * fri', '2026-11-01T00:00:00Z', 3)).toEqual([
      ...['2026-11-06T00:00', '2026-11-13T00:00', '2026-11-20T00:00'],
    ]);
  });

  it('never comes on a day that does not exist', () => {
    expect(times('0 0 30 2 *', '2026-01-01T00:00:00Z', 1)).toEqual([]);
  });

  it('is what the clocks of the zone show', () => {
    expect(times('TZ=Asia/Kolkata 0 9 * * *', '2026-01-01T00:00:00Z', 1)).toEqual(['2026-01-01T03:30']);
    expect(times('CRON_TZ=America/New_York 30 22 * * *', '2026-07-01T00:00:00Z', 1)).toEqual(['2026-07-01T02:30']);
  });

  it('stays at its time of day when the clocks change', () => {
    expect(times('TZ=Europe/Berlin 0 9 * * *', '2026-03-28T00:00:00Z', 2)).toEqual([
      ...['2026-03-28T08:00', '2026-03-29T07:00'],
    ]);
  });

  it('comes when the clocks jump, if they jump over it', () => {
    expect(times('TZ=Europe/Berlin 30 2 * * *', '2026-03-28T12:00:00Z', 2)).toEqual([
      ...['2026-03-29T01:00', '2026-03-30T00:30'],
    ]);
  });

  it('comes twice if the clocks show it twice', () => {
    expect(times('TZ=Europe/Berlin 30 2 * * *', '2026-10-24T12:00:00Z', 3)).toEqual([
      ...['2026-10-25T00:30', '2026-10-25T01:30', '2026-10-26T01:30'],
    ]);
  });

  it('is the first minute whose clock matches, whatever the zone and the season', () => {
    const zones = ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kathmandu'];
    const start = at('2026-01-01T00:00:00Z');
    const instant = fc.integer({ min: 0, max: 3 * 365 * 24 * 60 }).map((minutes) => start + minutes * 60_000);
    const schedule = fc.tuple(fc.integer({ min: 0, max: 59 }), fc.constantFrom(...zones));
    fc.assert(
      fc.property(instant, schedule, (after, [minute, zone]) => {
        // Of every hour, so that clocks that jump over one are a matter of the test above.
        const next = nextCronTime(parseCron(`TZ=${zone} ${minute} * * * *`), after as EpochMs) as number;
        const shown = new Intl.DateTimeFormat('en-GB', { timeZone: zone, minute: 'numeric' });
        let expected = after + 60_000;
        while (Number(shown.format(expected)) !== minute && expected < next) expected += 60_000;
        expect(next).toBe(expected);
      }),
    );
  });
});
