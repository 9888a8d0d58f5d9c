import type { Clock } from '../platform/clock.ts';

/** Does the engine's work piece by piece, so that leases and probes are served meanwhile. */
export async function inSlices<T>(slices: Iterator<unknown, T>, clock: Clock, signal: AbortSignal): Promise<T> {
  for (;;) {
    const slice = slices.next();
    if (slice.done === true) return slice.value;
    await clock.sleep(0, signal);
  }
}
