/** Durations as the kinds of this folder write them: `30s`, `1h30m`, `Never`. */

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** The word for a thing that is not to happen. */
export const NEVER = 'Never';

/** What the API server takes: whole numbers of hours, minutes and seconds. */
export const DURATION_PATTERN = '^([0-9]+(s|m|h))+$';
/** The same, or {@link NEVER}. */
export const DURATION_OR_NEVER_PATTERN = '^(([0-9]+(s|m|h))+|Never)$';

/** 114 years: whoever waits longer need not know for how long, and later moments have no date that others can read. */
const LONGEST_MS = 999_999 * 3_600_000;

/** The milliseconds of a duration, a century and a bit at most; undefined for `Never` and for what is not a duration. */
export function durationMs(text: string): number | undefined {
  if (!/^(\d+(ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, count, unit = ''] of text.matchAll(/(\d+)(ms|s|m|h)/g)) {
    total += Number(count) * (MILLISECONDS[unit] as number);
  }
  return Math.min(total, LONGEST_MS);
}
