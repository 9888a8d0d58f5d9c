/**
 * The state of the embedded cluster: all objects of all kinds under one revision counter, and the log of all writes. It
 * handles keys and revisions, not the meaning of objects. A write takes effect at once and in full, or not at all.
 */
import { type KubeObject, keyOf, keyText } from '../apis/kubernetes/object.ts';
import { Collection, firstNotBefore } from './collection.ts';
import { type CollectionLog, EventLog, type StoreEvent } from './event-log.ts';
import { frozenCopy } from './frozen.ts';

/** Settings of a store. */
export interface StoreOptions {
  /** At least this many of the newest writes are remembered for watches and pages. */
  readonly rememberedEvents?: number;
}

/** A collection as it was at one revision. */
export interface Snapshot {
  /** Sorted; may include keys that do not exist at that revision. */
  readonly keys: readonly string[];
  get(key: string): KubeObject | undefined;
}

const REMEMBERED_EVENTS = 8192;

/** Objects by collection (`pods`, `deployments.apps`) and key (`namespace/name` or `name`). */
export class Store {
  readonly #collections = new Map<string, Collection>();
  readonly #log: EventLog;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #observers = new Set<(event: StoreEvent) => void>();
  #revision = 0;

  constructor(options: StoreOptions = {}) {
    this.#log = new EventLog(options.rememberedEvents ?? REMEMBERED_EVENTS);
  }

  get revision(): number {
    return this.#revision;
  }

  /** Watches and pages of the collection can start from this revision or a later one. */
  oldestRevision(collection: string): number {
    return this.#log.of(collection).forgottenRevision;
  }

  collection(name: string): Collection {
    let collection = this.#collections.get(name);
    if (collection === undefined) {
      collection = new Collection();
      this.#collections.set(name, collection);
    }
    return collection;
  }

  log(collection: string): CollectionLog {
    return this.#log.of(collection);
  }

  get(collection: string, key: string): KubeObject | undefined {
    return this.#collections.get(collection)?.get(key);
  }

  /** Writes a new or changed object and returns it as stored: frozen, with its new resource version. */
  put(collection: string, object: KubeObject): KubeObject {
    const key = keyText(keyOf(object));
    const objects = this.collection(collection);
    const previous = objects.get(key);
    const revision = ++this.#revision;
    const stored = atRevision(object, revision);
    objects.set(key, stored);
    const type = previous === undefined ? 'ADDED' : 'MODIFIED';
    this.#append({ type, revision, collection, key, object: stored, previous });
    return stored;
  }

  /** Removes an object and returns its last state; `last` is that state if it differs from the stored one. */
  remove(collection: string, key: string, last?: KubeObject): KubeObject | undefined {
    const objects = this.collection(collection);
    const previous = objects.get(key);
    if (previous === undefined) return undefined;
    objects.delete(key);
    const revision = ++this.#revision;
    const object = atRevision(last ?? previous, revision);
    this.#append({ type: 'DELETED', revision, collection, key, object, previous });
    return object;
  }

  /** Drops the history up to a revision, as the store of a real cluster does from time to time. */
  compact(revision: number): void {
    this.#log.compact(Math.min(revision, this.#revision));
  }

  /** The collection as it is now, or as it was at a revision that is still remembered. */
  snapshot(name: string, revision = this.#revision): Snapshot {
    const collection = this.collection(name);
    if (revision >= this.#revision) return { keys: collection.keys(), get: (key) => collection.get(key) };
    const before = this.#undone(name, revision);
    if (before.size === 0) return { keys: collection.keys(), get: (key) => collection.get(key) };
    const gone = [...before.keys()].filter((key) => collection.get(key) === undefined);
    const keys = gone.length === 0 ? collection.keys() : [...collection.keys(), ...gone].sort();
    return { keys, get: (key) => (before.has(key) ? before.get(key) : collection.get(key)) };
  }

  /** Calls back after each write to the collection. Returns a function that stops this. */
  listen(collection: string, listener: () => void): () => void {
    let listeners = this.#listeners.get(collection);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(collection, listeners);
    }
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Calls back with each write of any collection, before the listeners. Returns a function that stops this. */
  observe(observer: (event: StoreEvent) => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  #append(event: StoreEvent): void {
    this.#log.append(event);
    for (const observer of this.#observers) observer(event);
    const listeners = this.#listeners.get(event.collection);
    if (listeners !== undefined) for (const listener of listeners) listener();
  }

  /** For each key written after the revision, its object at the revision. */
  #undone(collection: string, revision: number): Map<string, KubeObject | undefined> {
    const log = this.#log.of(collection);
    const before = new Map<string, KubeObject | undefined>();
    for (let position = log.positionAfter(revision); position < log.end; position++) {
      const event = log.at(position) as StoreEvent;
      if (!before.has(event.key)) before.set(event.key, event.previous);
    }
    return before;
  }
}

/** The half-open range of a namespace's keys in a sorted list of keys; all of them without a namespace. */
export function namespaceRange(keys: readonly string[], namespace: string | undefined): [start: number, end: number] {
  if (namespace === undefined) return [0, keys.length];
  // '0' is the character after '/'.
  return [firstNotBefore(keys, `${namespace}/`), firstNotBefore(keys, `${namespace}0`)];
}

function atRevision(object: KubeObject, revision: number): KubeObject {
  return frozenCopy({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
}
