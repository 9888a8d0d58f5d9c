import type { KubeObject } from '../apis/kubernetes/object.ts';

/** One write: the object after and before it. A deletion has the last state, with the revision of the deletion. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** The collection of the object: `pods`, `deployments.apps`. */
  readonly collection: string;
  readonly key: string;
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/** The remembered events of one collection, oldest first. Positions count from the first event ever. */
export class CollectionLog {
  #events: StoreEvent[] = [];
  #forgotten = 0;
  #forgottenRevision = 0;

  /** All events of this collection after this revision are remembered. */
  get forgottenRevision(): number {
    return this.#forgottenRevision;
  }

  get end(): number {
    return this.#forgotten + this.#events.length;
  }

  at(position: number): StoreEvent | undefined {
    return this.#events[position - this.#forgotten];
  }

  /** The position of the first event after the revision. */
  positionAfter(revision: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle] as StoreEvent).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#forgotten + low;
  }

  append(event: StoreEvent): void {
    this.#events.push(event);
  }

  forgetUpTo(revision: number): void {
    const count = this.positionAfter(revision) - this.#forgotten;
    if (count === 0) return;
    this.#forgottenRevision = (this.#events[count - 1] as StoreEvent).revision;
    this.#events = this.#events.slice(count);
    this.#forgotten += count;
  }
}

/**
 * The writes of all collections in one order. Only the newest are remembered; older ones are dropped in batches, at
 * constant cost per write.
 */
export class EventLog {
  readonly #capacity: number;
  readonly #collections = new Map<string, CollectionLog>();
  #revisions: number[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  of(collection: string): CollectionLog {
    let log = this.#collections.get(collection);
    if (log === undefined) {
      log = new CollectionLog();
      this.#collections.set(collection, log);
    }
    return log;
  }

  append(event: StoreEvent): void {
    this.of(event.collection).append(event);
    this.#revisions.push(event.revision);
    if (this.#revisions.length >= 1.25 * this.#capacity) {
      this.compact(this.#revisions[this.#revisions.length - this.#capacity - 1] as number);
    }
  }

  /** Drops all events up to and including the revision. */
  compact(revision: number): void {
    this.#revisions = this.#revisions.filter((kept) => kept > revision);
    for (const log of this.#collections.values()) log.forgetUpTo(revision);
  }
}
