/** Handles interruption notices: receives them, writes them on their claims, and drains the nodes of these. */
import type { RecordedEvent } from '../../kube/event-recorder.ts';
import { TokenBucket } from '../../platform/token-bucket.ts';
import { InterruptedClaims, type InterruptedClaimsOptions } from './interrupted-claims.ts';
import { NoticeReceiver, type NoticeReceiverOptions } from './notice-receiver.ts';

/** What other controllers do with notices. */
export type NoticeHooks = Partial<Pick<NoticeReceiverOptions, 'onRebalance' | 'recordNotice'>>;

export type InterruptionOptions = Omit<InterruptedClaimsOptions, 'say' | 'backlog'> & NoticeHooks;

/** Limits the events when thousands of machines are interrupted at once: nobody can read more. */
const EVENTS_AT_ONCE = 1000;
const EVENTS_PER_SECOND = 20;

export class Interruption {
  readonly name = 'interruption';
  readonly #parts: readonly { run(signal: AbortSignal): Promise<void> }[];

  constructor(options: InterruptionOptions) {
    const { onRebalance = () => 'Event' as const, recordNotice = () => {} } = options;
    const { clock, recorder } = options;
    const bucket = new TokenBucket({ clock, perSecond: EVENTS_PER_SECOND, burst: EVENTS_AT_ONCE });
    const say = (event: RecordedEvent): void => {
      if (bucket.tryTake()) recorder.record(event);
    };
    const receiver = new NoticeReceiver({ ...options, say, onRebalance, recordNotice });
    this.#parts = [receiver, new InterruptedClaims({ ...options, say, backlog: () => receiver.backlog })];
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.run(signal)));
  }
}
