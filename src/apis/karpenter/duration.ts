/** Durations of karpenter.sh kinds: `30s`, `1h30m`, `Never`. */

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Disables whatever the duration is for. */
export const NEVER = 'Never';

/** Whole numbers of hours, minutes and seconds. */
export const DURATION_PATTERN = '^([0-9]+(s|m|h))+$';
/** The same, or {@link NEVER}. */
export const DURATION_OR_NEVER_PATTERN = '^(([0-9]+(s|m|h))+|Never)$';

/** 114 years: longer waits make no difference, and later times cannot be written in four-digit years. */
const LONGEST_MS = 999_999 * 3_600_000;

/** Parses a duration to milliseconds, at most 114 years; undefined for `Never` and for an invalid text. */
export function durationMs(text: string): number | undefined {
  if (!/^(\d+(ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, count, unit = ''] of text.matchAll(/(\d+)(ms|s|m|h)/g)) {
    total += Number(count) * (MILLISECONDS[unit] as number);
  }
  return Math.min(total, LONGEST_MS);
}
