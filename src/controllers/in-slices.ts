import type { Clock } from '../platform/clock.ts';

/** Yields to the event loop after this long, plus the rest of a slice. */
const TURN_MS = 4;
/** Yields after this many slices even if no time passes, as on a virtual clock. */
const MOST_SLICES = 8;

/** Runs long work in slices, so that leases and probes are served in between. */
export async function inSlices<T>(slices: Iterator<unknown, T>, clock: Clock, signal: AbortSignal): Promise<T> {
  let startedAt = clock.elapsed();
  for (let count = 1; ; count++) {
    const slice = slices.next();
    if (slice.done === true) return slice.value;
    if (count % MOST_SLICES !== 0 && clock.elapsed() - startedAt < TURN_MS) continue;
    await clock.sleep(0, signal);
    startedAt = clock.elapsed();
  }
}
