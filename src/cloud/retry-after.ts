import { parseTimestamp } from '../platform/clock.ts';

/** Milliseconds that a Retry-After header asks to wait: it is a number of seconds or a date. 0 when it is neither. */
export function retryAfterMs(text: string | undefined, now: number): number {
  if (text === undefined || text.trim() === '') return 0;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = parseTimestamp(text);
  return date === undefined ? 0 : Math.max(0, date - now);
}
