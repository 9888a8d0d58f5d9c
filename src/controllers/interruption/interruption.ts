/** The way of a notice: it is received, written on its claim, and seen through. */
import { InterruptedClaims, type InterruptedClaimsOptions } from './interrupted-claims.ts';
import { NoticeReceiver, type NoticeReceiverOptions } from './notice-receiver.ts';

/** What others make of notices. */
export type NoticeHooks = Partial<Pick<NoticeReceiverOptions, 'onRebalance' | 'recordNotice'>>;

export type InterruptionOptions = InterruptedClaimsOptions & NoticeHooks;

export class Interruption {
  readonly name = 'interruption';
  readonly #parts: readonly { run(signal: AbortSignal): Promise<void> }[];

  constructor(options: InterruptionOptions) {
    const { onRebalance = () => 'Event' as const, recordNotice = () => {} } = options;
    this.#parts = [new NoticeReceiver({ ...options, onRebalance, recordNotice }), new InterruptedClaims(options)];
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.run(signal)));
  }
}
