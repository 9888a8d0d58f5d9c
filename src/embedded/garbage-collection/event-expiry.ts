import type { Clock } from '../../platform/clock.ts';
import type { ApiServer } from '../apiserver/api-server.ts';
import type { Store } from '../store.ts';

/** As long as kube-apiserver keeps them. */
const KEPT_MS = 3_600_000;
const EVENTS = 'events';

/**
 * Forgets events (the objects of that kind) an hour after they were last written, whenever another one comes. It needs no
 * timer: where no events come, there are none to make room for.
 */
export class EventExpiry {
  readonly #store: Store;
  readonly #clock: Clock;
  /** When each was last written, the one that goes first in front. */
  readonly #writtenAt = new Map<string, number>();

  constructor(server: ApiServer) {
    this.#store = server.world.store;
    this.#clock = server.world.clock;
  }

  /** Follows the store until the signal aborts. */
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
