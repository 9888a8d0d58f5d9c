/** What clocks show in a place: its distance from UTC, which changes with daylight saving. */

/** Milliseconds that the clocks of a zone are ahead of UTC at an instant. */
export type TimeZone = (epochMs: number) => number;

/** The zone that every other is measured from. */
export const UTC: TimeZone = () => 0;

const DAY_MS = 86_400_000;

/** The zone of a name such as `Europe/Berlin`; undefined when there is none. */
export function timeZone(name: string): TimeZone | undefined {
  if (name === 'UTC') return UTC;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return (epochMs) => {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(epochMs)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const shown = dayNumber(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000;
    return shown - Math.floor(epochMs / 1000) * 1000;
  };
}

/** A day of the calendar. */
export interface CivilDay {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

// The calendar in whole numbers: years are counted from March, so that the leap day is the last of a year, in eras of 400
// years, which all have the same number of days (H. Hinnant, chrono-compatible low-level date algorithms).

/** Days from 1970-01-01 to a day. */
export function dayNumber(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
  );
}

/** The day that comes so many days after 1970-01-01. */
export function civilDay(number: number): CivilDay {
  const shifted = number + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const day = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}
