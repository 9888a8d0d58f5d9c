/** A standard SQS queue in memory, on the test's clock: it hides delivered messages, and delivers them again. */
import type { Clock } from '../../../../platform/clock.ts';
import type { MessageQueue, QueueMessage, ReceiveOptions } from '../message-queue.ts';

interface Stored {
  readonly id: number;
  readonly body: string;
  readonly sentAt: QueueMessage['sentAt'];
  visibleAt: number;
  deliveries: number;
}

const LOOK_MS = 100;

export class FakeQueue implements MessageQueue {
  readonly name = 'fake';
  readonly calls = { receive: 0, delete: 0, hide: 0 };
  /** Thrown by every call while set. */
  failure: Error | undefined;
  /** Deletes of these messages, by number, fail. */
  readonly undeletable = new Set<number>();
  readonly #clock: Clock;
  readonly #stored = new Map<number, Stored>();
  #next = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  send(...messages: unknown[]): void {
    for (const message of messages) {
      const body = typeof message === 'string' ? message : JSON.stringify(message);
      const id = this.#next++;
      this.#stored.set(id, { id, body, sentAt: this.#clock.now(), visibleAt: 0, deliveries: 0 });
    }
  }

  get size(): number {
    return this.#stored.size;
  }

  async receive({ waitSeconds, visibilitySeconds, signal }: ReceiveOptions): Promise<readonly QueueMessage[]> {
    this.calls.receive++;
    const until = this.#clock.elapsed() + waitSeconds * 1000;
    for (;;) {
      if (this.failure !== undefined) throw this.failure;
      const now = this.#clock.elapsed();
      const found = [...this.#stored.values()].filter(({ visibleAt }) => visibleAt <= now).slice(0, 10);
      for (const each of found) {
        each.visibleAt = now + visibilitySeconds * 1000;
        each.deliveries++;
      }
      if (found.length > 0 || now >= until)
        return found.map(({ id, deliveries, body, sentAt }) => ({ handle: `${id}/${deliveries}`, body, sentAt }));
      await this.#clock.sleep(LOOK_MS, signal);
    }
  }

  async delete(handles: readonly string[]): Promise<readonly string[]> {
    this.calls.delete++;
    if (this.failure !== undefined) throw this.failure;
    return handles.filter((handle) => {
      const id = Number(handle.split('/')[0]);
      if (this.undeletable.has(id)) return true;
      this.#stored.delete(id);
      return false;
    });
  }

  async hide(handles: readonly string[], seconds: number): Promise<void> {
    this.calls.hide++;
    for (const handle of handles) {
      const stored = this.#stored.get(Number(handle.split('/')[0]));
      if (stored !== undefined) stored.visibleAt = this.#clock.elapsed() + seconds * 1000;
    }
  }
}
