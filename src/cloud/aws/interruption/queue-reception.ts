/**
 * Receives messages while this replica leads: receivers, the check whose machine a message is about, and deletes. Unfinished messages are
 * delivered again in the next term.
 */
import { asError, SpindriftError } from '../../../platform/errors.ts';
import { DeleteBatches } from './delete-batches.ts';
import { LEASE_SECONDS, type MessageLeases } from './message-leases.ts';
import { MOST_IN_A_BATCH, type QueueMessage } from './message-queue.ts';
import type { QueueMetrics } from './metrics.ts';
import { type ParsedMessage, parseMessage, type Warning } from './parse-message.ts';
import type { SqsNoticeSourceOptions } from './sqs-notice-source.ts';
import { WaitingNotices } from './waiting-notices.ts';

const STANDING_RECEIVERS = 2;
const MOST_RECEIVERS = 10;
const LONG_POLL_SECONDS = 20;
/** An additional receiver stops after this long without messages. */
const SHORT_POLL_SECONDS = 1;
/** No more messages are received while this many are being handled. SQS keeps at most 120,000 hidden per queue. */
const MOST_UNDER_WAY = 20_000;
const FULL_WAIT_MS = 200;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
/** How long a message about an unknown machine waits for a running launch to be recorded. */
const LAUNCH_MS = 20_000;
const LOOK_AGAIN_MS = 500;

/** A message about a machine that may turn out to be ours. */
interface Unsure {
  readonly message: QueueMessage;
  readonly parsed: ParsedMessage;
  readonly until: number;
}

export interface QueueReceptionOptions extends Omit<SqsNoticeSourceOptions, 'metrics'> {
  readonly leases: MessageLeases;
  readonly metrics: QueueMetrics;
  onTrouble(error: SpindriftError | undefined): void;
}

/** Receives messages for one term as leader. */
export class QueueReception {
  readonly notices = new WaitingNotices();
  readonly #options: QueueReceptionOptions;
  readonly #deletes: DeleteBatches;
  readonly #unsure = new Map<string, Unsure>();
  readonly #helpers = new Set<Promise<void>>();

  constructor(options: QueueReceptionOptions) {
    this.#options = options;
    this.#deletes = new DeleteBatches(options);
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const standing = Array.from({ length: STANDING_RECEIVERS }, () => this.#stand(signal));
    await Promise.all([...standing, this.#options.leases.run(signal), this.#lookAgain(signal)]);
    await Promise.all(this.#helpers);
    this.#deletes.close();
  }

  async #stand(signal: AbortSignal): Promise<void> {
    const { clock, onTrouble } = this.#options;
    let waitMs = FIRST_WAIT_MS;
    while (!signal.aborted) {
      try {
        const received = await this.#receive(LONG_POLL_SECONDS, signal);
        onTrouble(undefined);
        waitMs = FIRST_WAIT_MS;
        if (received >= MOST_IN_A_BATCH) this.#callHelp(signal);
      } catch (error) {
        if (signal.aborted) return;
        onTrouble(asTrouble(error));
        await clock.sleep(waitMs, signal).catch(() => {});
        waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
      }
    }
  }

  /** Runs an additional receiver until no more messages arrive. The permanent receivers report failures. */
  #callHelp(signal: AbortSignal): void {
    if (this.#helpers.size >= MOST_RECEIVERS - STANDING_RECEIVERS) return;
    const help = async (): Promise<void> => {
      try {
        while (!signal.aborted) {
          const received = await this.#receive(SHORT_POLL_SECONDS, signal);
          if (received === 0) return;
          if (received >= MOST_IN_A_BATCH) this.#callHelp(signal);
        }
      } catch (error) {
        if (!signal.aborted) this.#options.onTrouble(asTrouble(error));
      }
    };
    const helper = help().finally(() => this.#helpers.delete(helper));
    this.#helpers.add(helper);
  }

  async #receive(waitSeconds: number, signal: AbortSignal): Promise<number> {
    const { clock, leases, queue } = this.#options;
    while (leases.size >= MOST_UNDER_WAY) await clock.sleep(FULL_WAIT_MS, signal);
    const messages = await queue.receive({ waitSeconds, visibilitySeconds: LEASE_SECONDS, signal });
    for (const message of messages) this.#take(message);
    return messages.length;
  }

  #take(received: QueueMessage): void {
    const { clock, leases, onCheck } = this.#options;
    const sentAt = Number.isFinite(received.sentAt) ? received.sentAt : clock.now();
    const message = { ...received, sentAt };
    const parsed = parseMessage(message.body, sentAt);
    leases.begin(message);
    if (parsed.token !== undefined) onCheck?.(parsed.token);
    if (parsed.warnings.length === 0) this.#discard(message, parsed, false);
    else this.#judge({ message, parsed, until: clock.elapsed() + LAUNCH_MS });
  }

  /** Decides whether a message is about our machines, is foreign, or must wait for a running launch. */
  #judge(item: Unsure): void {
    const { clock, isLaunching } = this.#options;
    const { message, parsed, until } = item;
    const ours = parsed.warnings.flatMap((warning) =>
      this.#machinesOf(warning).map((machine) => ({ warning, machine })),
    );
    if (ours.length > 0) {
      this.#unsure.delete(message.handle);
      this.#handOver(message, ours);
    } else if (isLaunching?.() === true && clock.elapsed() < until) {
      this.#unsure.set(message.handle, item);
    } else {
      this.#unsure.delete(message.handle);
      this.#discard(message, parsed, true);
    }
  }

  #machinesOf({ about }: Warning): readonly string[] {
    const { isKnown, machinesOf } = this.#options;
    if ('reservation' in about) return machinesOf?.(about.reservation) ?? [];
    return isKnown === undefined || isKnown(about.machine) ? [about.machine] : [];
  }

  #handOver(message: QueueMessage, ours: readonly { readonly warning: Warning; readonly machine: string }[]): void {
    let left = ours.length;
    let deleted: Promise<void> | undefined;
    for (const { warning, machine } of ours) {
      const { kind, at, deadline, detail } = warning;
      let acknowledged = false;
      this.notices.add({
        ...{ kind, machine, at, source: 'sqs', detail },
        ...(deadline !== undefined && { deadline }),
        acknowledge: async () => {
          if (!acknowledged) left--;
          acknowledged = true;
          // The message is about other machines too, whose notices are not acknowledged yet.
          if (left > 0) return;
          deleted ??= this.#delete(message).catch((error: unknown) => {
            deleted = undefined;
            throw error;
          });
          await deleted;
        },
      });
    }
  }

  #discard(message: QueueMessage, { kind }: ParsedMessage, isForeign: boolean): void {
    this.#options.metrics.ended(kind, message.sentAt, isForeign);
    this.#delete(message).catch((error: unknown) => {
      // It will be delivered again, and discarded again.
      this.#options.leases.end(message);
      this.#options.logger.debug('a message could not be deleted', { error: asError(error) });
    });
  }

  async #delete(message: QueueMessage): Promise<void> {
    await this.#deletes.delete(message.handle);
    this.#options.leases.end(message);
  }

  async #lookAgain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#options.clock.sleep(LOOK_AGAIN_MS, signal).catch(() => {});
      if (!signal.aborted) for (const item of [...this.#unsure.values()]) this.#judge(item);
    }
  }
}

function asTrouble(error: unknown): SpindriftError {
  if (error instanceof SpindriftError) return error;
  const problem = asError(error).message;
  return new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'ReceiveMessage', problem }, { cause: error });
}
