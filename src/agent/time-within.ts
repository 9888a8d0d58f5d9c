import { type EpochMs, parseTimestamp } from '../platform/clock.ts';

/** No real notice has a time further away; anything else is invalid. */
const FARTHEST_MS = 24 * 3_600_000;

/** A time as RFC 3339 or RFC 1123 write it, less than a day away; undefined for anything else. */
export function timeWithin(text: string | undefined, now: EpochMs): EpochMs | undefined {
  const time = text === undefined || text.length > 40 ? undefined : parseTimestamp(text.trim());
  return time === undefined || Math.abs(time - now) > FARTHEST_MS ? undefined : time;
}
