/** The parts of a message queue that are needed: implemented by SQS, and by a fake in tests. */
import type { EpochMs } from '../../../platform/clock.ts';

export interface QueueMessage {
  /** Identifies this delivery of the message; the next delivery has another one. */
  readonly handle: string;
  readonly body: string;
  readonly sentAt: EpochMs;
}

export interface ReceiveOptions {
  /** How long the queue may wait for a first message. */
  readonly waitSeconds: number;
  /** How long a received message stays hidden from other receivers. */
  readonly visibilitySeconds: number;
  readonly signal: AbortSignal;
}

/** No call takes more than this many messages. */
export const MOST_IN_A_BATCH = 10;

/** Failures are CLOUD_* errors, and AWS_QUEUE_MISSING. */
export interface MessageQueue {
  readonly name: string;
  receive(options: ReceiveOptions): Promise<readonly QueueMessage[]>;
  /** Deletes up to ten messages; returns the handles that could not be deleted this time. */
  delete(handles: readonly string[], signal: AbortSignal): Promise<readonly string[]>;
  /** Hides up to ten messages for this long from now. Messages that were deleted meanwhile are skipped. */
  hide(handles: readonly string[], seconds: number, signal: AbortSignal): Promise<void>;
}
