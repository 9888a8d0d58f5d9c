import { parseDuration as parseGoDuration } from '../../apis/kubernetes/go-duration.ts';

/** Parses `30s`, `1m30s`, `500ms` or a plain number of seconds to milliseconds; undefined if it is invalid. */
export function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const nanoseconds = parseGoDuration(text);
  return nanoseconds === undefined || nanoseconds < 0n ? undefined : Number(nanoseconds / 1_000_000n);
}
