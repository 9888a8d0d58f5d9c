import type { Clock } from '../../platform/clock.ts';

export interface CallLimit {
  readonly clock: Clock;
  /** A call that takes longer is given up. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Turns what the API refused into an error of the CLOUD_* rows; other errors stay as they are. */
  failure(error: unknown): unknown;
}

/** Makes a call with a time limit. Refusals come out as errors that controllers know. */
export async function limitedCall<Answer>(
  { clock, timeoutMs, signal, failure }: CallLimit,
  work: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  signal.throwIfAborted();
  const limit = clock.deadline(timeoutMs, signal);
  try {
    return await work(limit.signal);
  } catch (error) {
    throw failure(error);
  } finally {
    limit.cancel();
  }
}
