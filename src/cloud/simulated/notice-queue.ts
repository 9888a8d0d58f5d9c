/** The simulated cloud's message queue: what was received but not deleted is shown again after a while. */
import type { Labels } from '../../engine/problem.ts';
import type { Clock, EpochMs } from '../../platform/clock.ts';
import type { NoticeKind } from '../notice.ts';
import type { OfferingName } from '../offering-key.ts';

/** What the cloud has to say about an instance. */
export interface CloudMessage {
  readonly id: number;
  readonly kind: NoticeKind;
  readonly instanceId: string;
  readonly providerID: string;
  readonly account: string;
  /** The tags of the instance. */
  readonly tags: Labels;
  /** What the instance ran on. */
  readonly offering: OfferingName;
  readonly at: EpochMs;
  readonly deadline?: EpochMs;
  readonly detail: string;
}

const HIDDEN_MS = 30_000;
/** Messages that nobody has taken for so long are dropped. */
const KEPT_MS = 4 * 24 * 3_600_000;

export class NoticeQueue {
  readonly #clock: Clock;
  readonly #messages = new Map<number, { readonly message: CloudMessage; hiddenUntil: number }>();
  readonly #waiting = new Set<() => void>();
  #serial = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  send(message: Omit<CloudMessage, 'id'>): void {
    for (const [old, { message: waiting }] of this.#messages) {
      if (waiting.at + KEPT_MS > message.at) break;
      this.#messages.delete(old);
    }
    const id = ++this.#serial;
    this.#messages.set(id, { message: { ...message, id }, hiddenUntil: 0 });
    for (const wake of [...this.#waiting]) wake();
  }

  /** Messages nobody has, at most so many; waits for one when there is none. Rejects when the signal aborts. */
  async receive(most: number, signal: AbortSignal): Promise<readonly CloudMessage[]> {
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.elapsed();
      const shown = [...this.#messages.values()].filter((entry) => entry.hiddenUntil <= now).slice(0, most);
      for (const entry of shown) entry.hiddenUntil = now + HIDDEN_MS;
      if (shown.length > 0) return shown.map((entry) => entry.message);
      await this.#change(signal);
    }
  }

  delete(id: number): void {
    this.#messages.delete(id);
  }

  /** Resolves when a message may have come into sight. */
  #change(signal: AbortSignal): Promise<void> {
    const shownNext = Math.min(...[...this.#messages.values()].map((entry) => entry.hiddenUntil));
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
      const timer = Number.isFinite(shownNext)
        ? this.#clock.setTimer(shownNext - this.#clock.elapsed(), wake)
        : undefined;
      this.#waiting.add(wake);
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}
