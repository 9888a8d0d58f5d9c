import { LABEL_INSTANCE_TYPE, LABEL_NODE_POOL, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { NOTICE_KINDS, type NoticeKind } from '../../cloud/notice.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { DisruptedReason } from '../nodeclaim/metrics.ts';

/** Karpenter's metric labels of the notice kinds. */
export const MESSAGE_TYPES = {
  'spot-interruption': 'spot_interrupted',
  'reservation-interruption': 'capacity_reservation_interrupted',
  rebalance: 'rebalance_recommendation',
  'scheduled-maintenance': 'scheduled_change',
  preempted: 'spot_preempted',
  stopping: 'instance_stopped',
  terminated: 'instance_terminated',
  'reservation-ending': 'capacity_reservation_ending',
} as const satisfies Readonly<Record<NoticeKind, DisruptedReason>>;

/** The outcome of a notice. */
export type NoticeOutcome =
  /** It was written on its claim. */
  | 'acted'
  /** An event was recorded, and nothing else had to be done. */
  | 'told'
  /** Everything in it was known. */
  | 'repeated'
  /** It was written on its claim, but came after its deadline. */
  | 'late'
  /** Its machine belongs to no claim, or no longer does. */
  | 'foreign';

const OUTCOMES: readonly NoticeOutcome[] = ['acted', 'told', 'repeated', 'late', 'foreign'];

/** Metrics of notices; `karpenter_*` names and labels are Karpenter's. */
export class InterruptionMetrics {
  readonly #received;
  readonly #deleted;
  readonly #queueSeconds;
  readonly #outcomes;
  readonly #interruptions;

  constructor(metrics: Metrics) {
    this.#received = metrics.counter({
      name: 'karpenter_interruption_received_messages_total',
      help: 'Interruption notices received from the clouds, also about other machines, per kind',
      labels: ['message_type'],
      initial: Object.values(MESSAGE_TYPES).map((type) => ({ message_type: type })),
    });
    this.#deleted = metrics.counter({
      name: 'karpenter_interruption_deleted_messages_total',
      help: 'Interruption notices acknowledged',
    });
    this.#queueSeconds = metrics.histogram({
      name: 'karpenter_interruption_message_queue_duration_seconds',
      help: 'From the time of a notice until its acknowledgement, in seconds',
    });
    this.#outcomes = metrics.counter({
      name: 'spindrift_interruption_notices_total',
      help: `Interruption notices by outcome: ${OUTCOMES.join(', ')}`,
      labels: ['outcome'],
      initial: OUTCOMES.map((outcome) => ({ outcome })),
    });
    this.#interruptions = metrics.counter({
      name: 'spindrift_interruptions_total',
      help: `Machines of NodeClaims that a notice announced, per kind (${NOTICE_KINDS.length}), instance type, zone and pool: up to types x zones x pools series`,
      labels: ['instance_type', 'zone', 'nodepool', 'kind'],
    });
  }

  received(kind: NoticeKind): void {
    this.#received.add({ message_type: MESSAGE_TYPES[kind] });
  }

  acknowledged(outcome: NoticeOutcome, seconds: number): void {
    this.#deleted.add({});
    this.#queueSeconds.observe({}, seconds);
    this.#outcomes.add({ outcome });
  }

  interrupted({ metadata }: NodeClaim, kind: NoticeKind): void {
    const { labels = {} } = metadata;
    this.#interruptions.add({
      instance_type: labels[LABEL_INSTANCE_TYPE] ?? '',
      zone: labels[LABEL_ZONE] ?? '',
      nodepool: labels[LABEL_NODE_POOL] ?? '',
      kind,
    });
  }
}
