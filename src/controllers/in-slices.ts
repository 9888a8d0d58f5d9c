import type { Clock } from '../platform/clock.ts';

/** Others wait so long at most, and as long as one slice more. */
const TURN_MS = 4;
/** Where no time passes while it works, as on a virtual clock, others have their turn all the same. */
const MOST_SLICES = 8;

/** Does the engine's work piece by piece, so that leases and probes are served meanwhile. */
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
