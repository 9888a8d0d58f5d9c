import { parseDuration as parseGoDuration } from '../../apis/kubernetes/go-duration.ts';

/** Milliseconds of a text such as `30s`, `1m30s` or `500ms`, or of a plain number of seconds; undefined when it is none. */
export function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const nanoseconds = parseGoDuration(text);
  return nanoseconds === undefined || nanoseconds < 0n ? undefined : Number(nanoseconds / 1_000_000n);
}
