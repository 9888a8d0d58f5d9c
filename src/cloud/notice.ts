/** Interruption notices, in one shape for all clouds. */
import type { EpochMs } from '../platform/clock.ts';

export const NOTICE_KINDS = [
  'spot-interruption',
  'reservation-interruption',
  'rebalance',
  'scheduled-maintenance',
  'preempted',
  'stopping',
  'terminated',
  'reservation-ending',
] as const;

/** What is about to happen, or has happened (`preempted`, `terminated`), to a machine. */
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** One message about one machine, whatever queue, poll or metadata service it came from. */
export interface Notice {
  readonly kind: NoticeKind;
  /** The machine as its cloud names it in notices: what `Cloud.machineKey` makes of its provider ID. */
  readonly machine: string;
  /** When the cloud sent it. */
  readonly at: EpochMs;
  /** When the machine is taken away, if the cloud says so. */
  readonly deadline?: EpochMs;
  /** Where it came from: `sqs`, `metadata`, `simulated`, ... */
  readonly source: string;
  /** A phrase for people. */
  readonly detail: string;
}

/** A notice from a source. It is delivered again, even after a restart, until it is acknowledged. */
export interface ReceivedNotice extends Notice {
  acknowledge(signal: AbortSignal): Promise<void>;
}
