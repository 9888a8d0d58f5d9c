/** The last known objects of one kind, with indexes. It never changes or copies an object. */
import { type KubeObject, keyOf, keyText, type ObjectKey } from '../apis/kubernetes/object.ts';

/** Returns the index values of an object: `(pod) => [pod.spec.nodeName ?? '']`. */
export type Indexer<T> = (object: T) => readonly string[];

/** The keys of the objects with one index value: a plain string for a single object, which saves memory. */
type Keys = string | Set<string>;

export class ObjectCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexers: ReadonlyMap<string, Indexer<T>>;
  readonly #indexes = new Map<string, Map<string, Keys>>();

  constructor(indexers: Readonly<Record<string, Indexer<T>>> = {}) {
    this.#indexers = new Map(Object.entries(indexers));
    for (const name of this.#indexers.keys()) this.#indexes.set(name, new Map());
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey | string): T | undefined {
    return this.#objects.get(typeof key === 'string' ? key : keyText(key));
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  /** The objects with this value in the named index. */
  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new RangeError(`there is no index ${name}`);
    const keys = index.get(value);
    if (keys === undefined) return [];
    if (typeof keys === 'string') return [this.#objects.get(keys) as T];
    return Array.from(keys, (key) => this.#objects.get(key) as T);
  }

  /** Stores the object and returns the previous one. */
  set(object: T): T | undefined {
    const key = keyText(keyOf(object));
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#index(key, old, object);
    return old;
  }

  /** Removes the object of that key and returns it. */
  delete(key: string): T | undefined {
    const old = this.#objects.get(key);
    if (old === undefined) return undefined;
    this.#objects.delete(key);
    this.#index(key, old, undefined);
    return old;
  }

  /** Most updates do not change the index values. */
  #index(key: string, old: T | undefined, object: T | undefined): void {
    for (const [name, indexer] of this.#indexers) {
      const index = this.#indexes.get(name) as Map<string, Keys>;
      const before = old === undefined ? [] : indexer(old);
      const after = object === undefined ? [] : indexer(object);
      for (const value of before) if (!after.includes(value)) remove(index, value, key);
      for (const value of after) if (!before.includes(value)) add(index, value, key);
    }
  }
}

function add(index: Map<string, Keys>, value: string, key: string): void {
  const keys = index.get(value);
  if (keys === undefined) index.set(value, key);
  else if (typeof keys !== 'string') keys.add(key);
  else if (keys !== key) index.set(value, new Set([keys, key]));
}

function remove(index: Map<string, Keys>, value: string, key: string): void {
  const keys = index.get(value);
  if (keys === undefined) return;
  if (typeof keys === 'string') {
    if (keys === key) index.delete(value);
    return;
  }
  keys.delete(key);
  if (keys.size === 0) index.delete(value);
}
