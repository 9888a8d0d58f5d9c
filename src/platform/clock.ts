/**
 * Time as an argument. No code outside `platform/` reads the time or sets a timer, so that a whole cluster can run on a
 * {@link VirtualClock} in a test, or many times faster than real time in a demonstration.
 */

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number & { readonly __unit: 'EpochMs' };

/** A timer that can be cancelled. */
export interface Timer {
  cancel(): void;
}

/** The source of time. Every duration is in milliseconds. */
export interface Clock {
  /** The time of day. It may jump when the machine's clock is set; measure durations with {@link Clock.elapsed}. */
  now(): EpochMs;
  /** Milliseconds since an arbitrary start; never goes back. */
  elapsed(): number;
  /** Calls back once after the delay; never synchronously, even with a delay of 0 or less. */
  setTimer(delayMs: number, callback: () => void): Timer;
  /** Resolves after the delay; rejects with the signal's reason when that aborts first, and leaves no timer behind. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /**
   * A signal that aborts after the delay with a DEADLINE_EXCEEDED error, or together with the parent if that is first.
   * Cancel it when the work is done, so that no timer is left behind.
   */
  deadline(delayMs: number, parent?: AbortSignal): Deadline;
}

/** A signal with a time limit; `cancel` releases the timer and the parent's listener. */
export interface Deadline {
  readonly signal: AbortSignal;
  cancel(): void;
}

/** Caches the last text: thousands of objects are written in the same second and can share it. */
const MOST_SECONDS = 64;
const seconds = new Map<number, string>();

/** The time as Kubernetes writes it in metadata: whole seconds, UTC. */
export function toTimestamp(time: EpochMs): string {
  const second = Math.floor(time / 1000);
  const known = seconds.get(second);
  if (known !== undefined) return known;
  const text = `${new Date(time).toISOString().slice(0, 19)}Z`;
  if (seconds.size >= MOST_SECONDS) seconds.clear();
  seconds.set(second, text);
  return text;
}

/** The time as Kubernetes writes it in leases and events: with microseconds, of which we know the milliseconds. */
export function toMicroTime(time: EpochMs): string {
  return `${new Date(time).toISOString().slice(0, 23)}000Z`;
}

/** The time as a Date, for libraries. */
export function toDate(time: EpochMs): Date {
  return new Date(time);
}

/** Reads any RFC 3339 time; undefined when it is not one. */
export function parseTimestamp(text: string | undefined): EpochMs | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : (time as EpochMs);
}
