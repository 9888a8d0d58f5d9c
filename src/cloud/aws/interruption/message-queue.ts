/** The queue that interruption messages come from, as much of it as is needed: SQS, or a fake in tests. */
import type { EpochMs } from '../../../platform/clock.ts';

export interface QueueMessage {
  /** Names this delivery of the message; the next delivery has another one. */
  readonly handle: string;
  readonly body: string;
  readonly sentAt: EpochMs;
}

export interface ReceiveOptions {
  /** How long the queue may wait for a first message. */
  readonly waitSeconds: number;
  /** How long nobody else is given what was received. */
  readonly visibilitySeconds: number;
  readonly signal: AbortSignal;
}

/** No call takes more than this many messages. */
export const MOST_IN_A_BATCH = 10;

/** Failures are CLOUD_* errors, and AWS_QUEUE_MISSING. */
export interface MessageQueue {
  readonly name: string;
  receive(options: ReceiveOptions): Promise<readonly QueueMessage[]>;
  /** Deletes up to ten messages; gives the handles that could not be deleted now and may be later. */
  delete(handles: readonly string[], signal: AbortSignal): Promise<readonly string[]>;
  /** Hides up to ten messages for that long from now on. What has been deleted meanwhile is left out. */
  hide(handles: readonly string[], seconds: number, signal: AbortSignal): Promise<void>;
}
