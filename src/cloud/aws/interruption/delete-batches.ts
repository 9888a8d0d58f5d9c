/**
 * Deletes messages ten at a time, because SQS bills per call. A message waits a moment for its batch to fill; a full batch is sent at once.
 */
import type { Clock, Timer } from '../../../platform/clock.ts';
import { asError, SpindriftError } from '../../../platform/errors.ts';
import { type MessageQueue, MOST_IN_A_BATCH } from './message-queue.ts';

export interface DeleteBatchesOptions {
  readonly clock: Clock;
  readonly queue: MessageQueue;
}

interface Waiting {
  readonly handle: string;
  readonly done: (error?: Error) => void;
}

/** How long a message waits for its batch to fill. */
const FILL_MS = 50;
/** Concurrent calls. */
const MOST_CALLS = 8;

export class DeleteBatches {
  readonly #options: DeleteBatchesOptions;
  readonly #waiting: Waiting[] = [];
  readonly #stop = new AbortController();
  #timer: Timer | undefined;
  #calls = 0;

  constructor(options: DeleteBatchesOptions) {
    this.#options = options;
  }

  /** Deletes a message; rejects if that failed. Calling again is safe. */
  delete(handle: string): Promise<void> {
    if (this.#stop.signal.aborted) return Promise.reject(asError(this.#stop.signal.reason));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ handle, done: (error) => (error === undefined ? resolve() : reject(error)) });
      this.#pump();
    });
  }

  /** The number of messages not deleted yet. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Aborts the running calls; waiting deletes reject. */
  close(): void {
    this.#timer?.cancel();
    this.#stop.abort(new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'DeleteMessageBatch', problem: 'closed' }));
    for (const { done } of this.#waiting.splice(0)) done(asError(this.#stop.signal.reason));
  }

  #pump(flush = false): void {
    while (this.#calls < MOST_CALLS && this.#waiting.length >= (flush ? 1 : MOST_IN_A_BATCH))
      void this.#send(this.#waiting.splice(0, MOST_IN_A_BATCH));
    if (this.#waiting.length === 0 || this.#calls >= MOST_CALLS) return;
    this.#timer ??= this.#options.clock.setTimer(FILL_MS, () => {
      this.#timer = undefined;
      this.#pump(true);
    });
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    this.#calls++;
    try {
      const handles = batch.map(({ handle }) => handle);
      const failed = new Set(await this.#options.queue.delete(handles, this.#stop.signal));
      for (const { handle, done } of batch) done(failed.has(handle) ? notDeleted() : undefined);
    } catch (error) {
      for (const { done } of batch) done(asError(error));
    } finally {
      this.#calls--;
      this.#pump();
    }
  }
}

function notDeleted(): SpindriftError {
  const problem = 'the queue did not delete the message';
  return new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'DeleteMessageBatch', problem });
}
