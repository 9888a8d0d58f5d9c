/**
 * Turns the messages of an AWS interruption queue into notices.
 *
 * Two receivers always wait in a long poll; more join while batches come back full. A message about one of our machines
 * becomes a notice, is kept hidden while the notice is worked on, and is deleted once that is acknowledged. Everything
 * else, which in a large account is nearly everything, is deleted ten at a time and costs no other call. Notices that
 * leave the least time are handed over first, whatever arrived before them.
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
  /** Whether the machine is one of ours, as far as is known; without it all messages become notices. */
  isKnown?(machine: string): boolean;
  /** Whether a launch is under way whose machine is not known yet: a message may be faster than our record of it. */
  isLaunching?(): boolean;
  /** The machines of ours in a capacity reservation. */
  machinesOf?(reservation: string): readonly string[];
  /** Hears of messages that `spindrift aws check` sent. */
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

  /** The notices of the queue until the signal aborts; trouble with the queue is logged, and waited out. */
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

  /** Looks into the queue; what it finds stays there for others. */
  async check(signal: AbortSignal): Promise<void> {
    await this.#options.queue.receive({ waitSeconds: 0, visibilitySeconds: 0, signal });
  }

  /** Trouble is said when it begins, changes and ends, not at every try. */
  #tell(error: SpindriftError | undefined): void {
    const { logger, queue } = this.#options;
    if (error !== undefined) this.#metrics.failed(error.code);
    if (error?.code === this.#trouble) return;
    this.#trouble = error?.code;
    if (error === undefined) logger.info('the interruption queue answers again', { queue: queue.name });
    else logger.warn('interruption messages cannot be received', { queue: queue.name, error });
  }
}
