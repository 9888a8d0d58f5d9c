/** Extends the visibility timeout of messages while they are being handled, ten per call. */
import type { Clock } from '../../../platform/clock.ts';
import { asError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import { type MessageQueue, MOST_IN_A_BATCH, type QueueMessage } from './message-queue.ts';

export interface MessageLeasesOptions {
  readonly clock: Clock;
  readonly queue: MessageQueue;
  readonly logger: Logger;
}

interface Lease {
  readonly message: QueueMessage;
  readonly since: number;
  until: number;
}

/** Visibility timeout of a message, from its receipt or last extension. */
export const LEASE_SECONDS = 30;
/** With less than this left, the timeout is extended. */
const RENEW_MS = 15_000;
const LOOK_MS = 5000;
/** After this time the handling counts as stuck: the message may be delivered again, here or to another replica. */
const LONGEST_MS = 600_000;

export class MessageLeases {
  readonly #options: MessageLeasesOptions;
  readonly #leases = new Map<string, Lease>();

  constructor(options: MessageLeasesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#leases.size;
  }

  /** When the oldest unfinished message was sent. */
  get oldestSentAt(): number | undefined {
    let oldest: number | undefined;
    for (const { message } of this.#leases.values())
      if (oldest === undefined || message.sentAt < oldest) oldest = message.sentAt;
    return oldest;
  }

  /** Starts a lease for a received message. */
  begin(message: QueueMessage): void {
    const since = this.#options.clock.elapsed();
    this.#leases.set(message.handle, { message, since, until: since + LEASE_SECONDS * 1000 });
  }

  /** Ends a lease: the message was deleted, or stays in the queue. */
  end({ handle }: QueueMessage): void {
    this.#leases.delete(handle);
  }

  /** Renews leases until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal).catch(() => {});
      if (!signal.aborted) await this.#renew(signal);
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { clock, queue, logger } = this.#options;
    const now = clock.elapsed();
    const due: Lease[] = [];
    for (const [handle, lease] of this.#leases) {
      if (now - lease.since > LONGEST_MS) this.#leases.delete(handle);
      else if (lease.until - now < RENEW_MS) due.push(lease);
    }
    for (let from = 0; from < due.length && !signal.aborted; from += MOST_IN_A_BATCH) {
      const batch = due.slice(from, from + MOST_IN_A_BATCH).filter(({ message }) => this.#leases.has(message.handle));
      if (batch.length === 0) continue;
      try {
        await queue.hide(
          batch.map(({ message }) => message.handle),
          LEASE_SECONDS,
          signal,
        );
        for (const lease of batch) lease.until = clock.elapsed() + LEASE_SECONDS * 1000;
      } catch (error) {
        // The messages will be delivered again, and recognized.
        if (!signal.aborted) logger.debug('messages could not be kept hidden', { error: asError(error) });
      }
    }
  }
}
