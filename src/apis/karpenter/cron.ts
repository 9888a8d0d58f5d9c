/** Parses schedules of disruption budgets: five cron fields or a name such as @daily, in UTC or the zone of a TZ= prefix. */
import { SpindriftError } from '../../platform/errors.ts';
import { type TimeZone, timeZone, UTC } from './time-zone.ts';

/** The allowed values of each field. */
export interface CronSchedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly daysOfWeek: ReadonlySet<number>;
  /** Where both days are given, either matches; where one is `*`, the other decides. */
  readonly anyDayOfMonth: boolean;
  readonly anyDayOfWeek: boolean;
  /** The time zone of the schedule. */
  readonly zone: TimeZone;
}

interface Field {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** Names for the values from `first` on. */
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS = [
  { name: 'minute', first: 0, last: 59 },
  { name: 'hour', first: 0, last: 23 },
  { name: 'day of month', first: 1, last: 31 },
  { name: 'month', first: 1, last: 12, names: MONTHS },
  { name: 'day of week', first: 0, last: 6, names: DAYS },
] as const satisfies readonly Field[];

const NAMED: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Parses a schedule; CRON_INVALID says what is wrong and what is allowed. */
export function parseCron(text: string): CronSchedule {
  const invalid = (problem: string): SpindriftError => new SpindriftError('CRON_INVALID', { text, problem });
  const [, zoneName, times = ''] = /^(?:(?:CRON_)?TZ=(\S*)\s+)?(.*)$/.exec(text.trim()) ?? [];
  const zone = zoneName === undefined ? UTC : timeZone(zoneName);
  if (zone === undefined)
    throw invalid(`${zoneName} is not a time zone: write one as in TZ=Europe/Berlin, or none for UTC`);
  if (times.startsWith('@') && NAMED[times] === undefined)
    throw invalid(`the names are ${Object.keys(NAMED).join(', ')}`);
  const parts = (NAMED[times] ?? times).split(/\s+/);
  if (parts.length !== FIELDS.length) {
    throw invalid('it has five fields: minute, hour, day of month, month, day of week');
  }
  const values = (index: 0 | 1 | 2 | 3 | 4): Set<number> => {
    const found = fieldValues(parts[index] as string, FIELDS[index]);
    if (typeof found === 'string') throw invalid(found);
    return found;
  };
  return {
    minutes: values(0),
    hours: values(1),
    daysOfMonth: values(2),
    months: values(3),
    daysOfWeek: values(4),
    anyDayOfMonth: isAny(parts[2]),
    anyDayOfWeek: isAny(parts[4]),
    zone,
  };
}

/** The values of a field, or what is wrong with it. */
function fieldValues(text: string, field: Field): Set<number> | string {
  const values = new Set<number>();
  for (const item of text.split(',')) {
    const range = rangeOf(item, field);
    if (typeof range === 'string') return range;
    for (let value = range.from; value <= range.to; value += range.step) values.add(value);
  }
  return values;
}

function rangeOf(item: string, field: Field): { from: number; to: number; step: number } | string {
  const { name, first, last, names } = field;
  const match = /^([*?]|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(item);
  const allowed = `${name} is ${first} to ${last}${names === undefined ? '' : ` or ${names[0]} to ${names.at(-1)}`}`;
  if (match === null)
    return `${allowed}, with * for all, 1-5 for a range, */2 for steps and commas between, but it is ${item}`;
  const [, start = '', end, steps] = match;
  const step = steps === undefined ? 1 : Number(steps);
  if (step === 0) return `the step of ${name} is 0, but it must be at least 1`;
  if (start === '*' || start === '?') {
    return end === undefined ? { from: first, to: last, step } : `${allowed}, but it is ${item}`;
  }
  const from = numberOf(start, field);
  const to = end === undefined ? (steps === undefined ? from : last) : numberOf(end, field);
  if (from === undefined || to === undefined) return `${allowed}, but it is ${item}`;
  return from > to ? `the range ${item} of ${name} ends before it begins` : { from, to, step };
}

function numberOf(text: string, { first, last, names = [] }: Field): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return first + named;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= first && value <= last ? value : undefined;
}

function isAny(part = ''): boolean {
  return part.split(',').some((item) => /^[*?](\/1)?$/.test(item));
}
