import { describe, expect, it } from 'vitest';
import { parseCron } from './cron.ts';

describe('a schedule', () => {
  it('is read field by field, with ranges, steps, lists and names', () => {
    const { minutes, hours, daysOfMonth, months, daysOfWeek } = parseCron('*/20 9-17/4 1,15 JAN-mar mon-fri');
    expect([...minutes]).toEqual([0, 20, 40]);
    expect([...hours]).toEqual([9, 13, 17]);
    expect([...daysOfMonth]).toEqual([1, 15]);
    expect([...months]).toEqual([1, 2, 3]);
    expect([...daysOfWeek]).toEqual([1, 2, 3, 4, 5]);
  });

  it('goes on to the end of the field where only the start of a step is given', () => {
    expect([...parseCron('50/5 * * * *').minutes]).toEqual([50, 55]);
  });

  it('may be a name', () => {
    expect(parseCron('@weekly')).toEqual(parseCron('0 0 * * 0'));
    expect(parseCron('@midnight')).toEqual(parseCron('@daily'));
  });

  it('knows which of its two days decides', () => {
    expect(parseCron('0 0 * * mon')).toMatchObject({ anyDayOfMonth: true, anyDayOfWeek: false });
    expect(parseCron('0 0 */2 * ?')).toMatchObject({ anyDayOfMonth: false, anyDayOfWeek: true });
  });

  it.each([
    ['0 9 * *', 'it has five fields: minute, hour, day of month, month, day of week'],
    ['TZ=Europe/Berlin 0 9 * *', 'it has five fields'],
    ['TZ=Europe/Bielefeld 0 9 * * *', 'Europe/Bielefeld is not a time zone: write one as in TZ=Europe/Berlin'],
    ['TZ= 0 9 * * *', 'is not a time zone'],
    ['60 * * * *', 'minute is 0 to 59, but it is 60'],
    ['0 0 0 * *', 'day of month is 1 to 31, but it is 0'],
    ['0 0 * * 7', 'day of week is 0 to 6 or sun to sat, but it is 7'],
    ['0 0 * foo *', 'month is 1 to 12 or jan to dec, but it is foo'],
    ['0 17-9 * * *', 'the range 17-9 of hour ends before it begins'],
    ['*/0 * * * *', 'the step of minute is 0, but it must be at least 1'],
    ['*-5 * * * *', 'minute is 0 to 59, but it is *-5'],
    ['0 0 L * *', 'day of month is 1 to 31, but it is L'],
    ['0 0 * * 5#2', 'with * for all, 1-5 for a range, */2 for steps and commas between, but it is 5#2'],
    ['@every 1h', 'the names are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly'],
  ])('that is %j is refused: %s', (text, problem) => {
    expect(() => parseCron(text)).toThrow(problem);
  });
});
