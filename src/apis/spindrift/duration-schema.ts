/** Durations in the kinds of this folder: written as Karpenter writes them, but no longer than anybody can mean. */
import { NEVER } from '../karpenter/duration.ts';
import type { Rule } from '../schema/json-schema.ts';
import { type Schema, text } from '../schema/schema.ts';

/** So many digits that a moment as far away is still a date. */
const UNITS = '[0-9]{1,9}s|[0-9]{1,7}m|[0-9]{1,6}h';
const WHOLE = 'a duration is written in whole hours, minutes and seconds, as in 3m, 1h30m or 30s';
const AT_MOST = 'with at most 999999h, 9999999m or 999999999s';
/** Many short ones make no long one. */
const MOST_LETTERS = 64;

/** Hours, minutes and seconds. */
export function duration(description: string, rules: readonly Rule[] = []): Schema<string> {
  const patternMessage = `${WHOLE}, ${AT_MOST}`;
  return text(description, { pattern: `^(${UNITS})+$`, patternMessage, maxLength: MOST_LETTERS, rules });
}

/** The same, or Never. */
export function durationOrNever(description: string): Schema<string> {
  const patternMessage = `${WHOLE}, ${AT_MOST}, or ${NEVER}`;
  return text(description, { pattern: `^((${UNITS})+|${NEVER})$`, patternMessage, maxLength: MOST_LETTERS });
}

/** Hours, minutes, seconds and milliseconds. */
export function shortDuration(description: string): Schema<string> {
  return text(description, {
    pattern: `^([0-9]{1,9}ms|${UNITS})+$`,
    patternMessage: `a duration is written in whole hours, minutes, seconds and milliseconds, as in 2m, 30s or 250ms, ${AT_MOST}`,
    maxLength: MOST_LETTERS,
  });
}
