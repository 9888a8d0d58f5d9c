import type { Clock } from '../../../platform/clock.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import { MESSAGE_KINDS, type MessageKind } from './message-kind.ts';

export interface QueueMetricsOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** When the oldest unfinished message was sent; undefined if there is none. */
  oldestSentAt(): number | undefined;
}

/**
 * Counts messages that need no action: foreign, harmless and unreadable ones. Messages that become notices are counted under the same names
 * by the interruption controller, once it has acknowledged them.
 */
export class QueueMetrics {
  readonly #clock: Clock;
  readonly #received;
  readonly #deleted;
  readonly #queueSeconds;
  readonly #foreign;
  readonly #failures;

  constructor({ clock, metrics, oldestSentAt }: QueueMetricsOptions) {
    this.#clock = clock;
    this.#received = metrics.counter({
      name: 'karpenter_interruption_received_messages_total',
      help: 'Notices of the cloud about machines, ours or not, per kind',
      labels: ['message_type'],
      initial: MESSAGE_KINDS.map((kind) => ({ message_type: kind })),
    });
    this.#deleted = metrics.counter({
      name: 'karpenter_interruption_deleted_messages_total',
      help: 'Notices that were acknowledged, so that they do not come again',
    });
    this.#queueSeconds = metrics.histogram({
      name: 'karpenter_interruption_message_queue_duration_seconds',
      help: 'From the moment the cloud said it until the notice was acknowledged, in seconds',
    });
    this.#foreign = metrics.counter({
      name: 'spindrift_interruption_foreign_messages_total',
      help: `Messages about machines that are not of this cluster, per kind (${MESSAGE_KINDS.length} series)`,
      labels: ['message_type'],
    });
    this.#failures = metrics.counter({
      name: 'spindrift_interruption_queue_failures_total',
      help: 'Calls of the interruption queue that failed, per error code',
      labels: ['error'],
    });
    metrics.counted(
      {
        name: 'spindrift_interruption_oldest_message_age_seconds',
        help: 'Since when the oldest message waits that was received and not dealt with yet, in seconds; 0 when there is none',
      },
      (): [Readonly<Record<never, string>>, number][] => {
        const sentAt = oldestSentAt();
        return [[{}, sentAt === undefined ? 0 : Math.max(0, clock.now() - sentAt) / 1000]];
      },
    );
  }

  /** A message was received and deleted, and needs no action. */
  ended(kind: MessageKind, sentAt: number, isForeign: boolean): void {
    this.#received.add({ message_type: kind });
    this.#deleted.add({});
    this.#queueSeconds.observe({}, Math.max(0, this.#clock.now() - sentAt) / 1000);
    if (isForeign) this.#foreign.add({ message_type: kind });
  }

  failed(error: string): void {
    this.#failures.add({ error });
  }
}
