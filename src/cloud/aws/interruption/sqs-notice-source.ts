/**
 * Turns the messages of an AWS interruption queue into notices.
 *
 * Two receivers are always in a long poll; more are added while batches are full. A message about one of our machines becomes a notice, is
 * kept hidden while the notice is handled, and is deleted once it is acknowledged. All other messages, which are most of them in a large
 * account, are deleted ten at a time without any other call. The most urgent notices are handed over first, whatever arrived before them.
 */
import type { Clock } from '../../../platform/clock.ts';
import type { SpindriftError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import type { NoticeSource } from '../../cloud.ts';
import type { ReceivedNotice } from '../../notice.ts';
import { MessageLeases } from './message-leases.ts';
import type { MessageQueue } from './message-queue.ts';
import { QueueMetrics } from './metrics.ts';
import { QueueReception } from './queue-reception.ts';

export interface SqsNoticeSourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly queue: MessageQueue;
  /** Whether the machine is known as ours. Without it all messages become notices. */
  isKnown?(machine: string): boolean;
  /** Whether a launch is running whose machine is unknown yet: a message may arrive before the launch is recorded. */
  isLaunching?(): boolean;
  /** Our machines in a capacity reservation. */
  machinesOf?(reservation: string): readonly string[];
  /** Called for messages that `spindrift aws check` sent. */
  onCheck?(token: string): void;
}

export class SqsNoticeSource implements NoticeSource {
  readonly name = 'sqs';
  readonly #options: SqsNoticeSourceOptions;
  readonly #leases: MessageLeases;
  readonly #metrics: QueueMetrics;
  #trouble: string | undefined;

  constructor(options: SqsNoticeSourceOptions) {
    this.#options = options;
    this.#leases = new MessageLeases(options);
    this.#metrics = new QueueMetrics({ ...options, oldestSentAt: () => this.#leases.oldestSentAt });
  }

  /** The notices of the queue until the signal aborts. Failures are logged and retried. */
  async *receive(signal: AbortSignal): AsyncGenerator<ReceivedNotice, void, undefined> {
    const stop = new AbortController();
    const ended = AbortSignal.any([signal, stop.signal]);
    const reception = new QueueReception({
      ...this.#options,
      leases: this.#leases,
      metrics: this.#metrics,
      onTrouble: (error) => this.#tell(error),
    });
    const work = reception.run(ended);
    try {
      for (;;) {
        const next = await reception.notices.next(ended);
        if (next === undefined) return;
        yield next;
      }
    } finally {
      stop.abort();
      await work;
    }
  }

  /** Receives from the queue once and leaves the messages there. */
  async check(signal: AbortSignal): Promise<void> {
    await this.#options.queue.receive({ waitSeconds: 0, visibilitySeconds: 0, signal });
  }

  /** Logs when failures begin, change and end, not on every try. */
  #tell(error: SpindriftError | undefined): void {
    const { logger, queue } = this.#options;
    if (error !== undefined) this.#metrics.failed(error.code);
    if (error?.code === this.#trouble) return;
    this.#trouble = error?.code;
    if (error === undefined) logger.info('the interruption queue answers again', { queue: queue.name });
    else logger.warn('interruption messages cannot be received', { queue: queue.name, error });
  }
}
