import type { Clock } from '../../platform/clock.ts';
import type { ApiServer } from '../apiserver/api-server.ts';
import type { Store } from '../store.ts';

/** As long as kube-apiserver keeps events. */
const KEPT_MS = 3_600_000;
const EVENTS = 'events';

/**
 * Deletes Event objects an hour after they were last written, whenever another Event is written. It needs no timer:
 * without new events, there is no need to make room.
 */
export class EventExpiry {
  readonly #store: Store;
  readonly #clock: Clock;
  /** When each event was last written, oldest first. */
  readonly #writtenAt = new Map<string, number>();

  constructor(server: ApiServer) {
    this.#store = server.world.store;
    this.#clock = server.world.clock;
  }

  /** Observes the store until the signal aborts. */
  start(signal: AbortSignal): void {
    const stop = this.#store.observe(({ collection, type, key }) => {
      if (collection !== EVENTS) return;
      this.#writtenAt.delete(key);
      if (type === 'DELETED') return;
      this.#writtenAt.set(key, this.#clock.elapsed());
      this.#removeOld();
    });
    signal.addEventListener('abort', stop, { once: true });
  }

  #removeOld(): void {
    for (const [key, writtenAt] of this.#writtenAt) {
      if (this.#clock.elapsed() - writtenAt < KEPT_MS) return;
      this.#store.remove(EVENTS, key);
    }
  }
}
