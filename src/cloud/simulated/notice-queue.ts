/** The simulated cloud's message queue: messages that were received but not deleted are delivered again after a while. */
import type { Labels } from '../../engine/problem.ts';
import type { Clock, EpochMs } from '../../platform/clock.ts';
import type { NoticeKind } from '../notice.ts';
import type { OfferingName } from '../offering-key.ts';

/** A message of the cloud about an instance. */
export interface CloudMessage {
  readonly id: number;
  readonly kind: NoticeKind;
  readonly instanceId: string;
  readonly providerID: string;
  readonly account: string;
  /** The tags of the instance. */
  readonly tags: Labels;
  /** The offering of the instance. */
  readonly offering: OfferingName;
  readonly at: EpochMs;
  readonly deadline?: EpochMs;
  readonly detail: string;
}

const HIDDEN_MS = 30_000;
/** Messages that were not received for this long are dropped. */
const KEPT_MS = 4 * 24 * 3_600_000;

export class NoticeQueue {
  readonly #clock: Clock;
  /** In sending order. */
  readonly #shown = new Map<number, CloudMessage>();
  /** Received but not deleted, in the order in which they become visible again. */
  readonly #hidden = new Map<number, { readonly message: CloudMessage; readonly until: number }>();
  readonly #waiting = new Set<() => void>();
  #serial = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  send(message: Omit<CloudMessage, 'id'>): void {
    for (const [old, { at }] of this.#shown) {
      if (at + KEPT_MS > message.at) break;
      this.#shown.delete(old);
    }
    const id = ++this.#serial;
    this.#shown.set(id, { ...message, id });
    for (const wake of [...this.#waiting]) wake();
  }

  /** Receives up to this many messages, and waits if there is none. Rejects when the signal aborts. */
  async receive(most: number, signal: AbortSignal): Promise<readonly CloudMessage[]> {
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.elapsed();
      this.#showAgain(now);
      const taken: CloudMessage[] = [];
      for (const [id, message] of this.#shown) {
        if (taken.length === most) break;
        taken.push(message);
        this.#shown.delete(id);
        this.#hidden.set(id, { message, until: now + HIDDEN_MS });
      }
      if (taken.length > 0) return taken;
      await this.#change(signal);
    }
  }

  delete(id: number): void {
    this.#shown.delete(id);
    this.#hidden.delete(id);
  }

  #showAgain(now: number): void {
    for (const [id, { message, until }] of this.#hidden) {
      if (until > now) break;
      this.#hidden.delete(id);
      this.#shown.set(id, message);
    }
  }

  /** Resolves when a message may have become visible. */
  #change(signal: AbortSignal): Promise<void> {
    const shownNext = this.#hidden.values().next().value?.until;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(wake);
        timer?.cancel();
        signal.removeEventListener('abort', stop);
      };
      const wake = (): void => {
        end();
        resolve();
      };
      const stop = (): void => {
        end();
        reject(signal.reason);
      };
      const timer = shownNext === undefined ? undefined : this.#clock.setTimer(shownNext - this.#clock.elapsed(), wake);
      this.#waiting.add(wake);
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}
