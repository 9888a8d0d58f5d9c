/** The objects of one kind as last heard, with indexes. It never changes an object and never copies one. */
import { type KubeObject, keyOf, keyText, type ObjectKey } from '../apis/kubernetes/object.ts';

/** From an object to the values it is found under: `(pod) => [pod.spec.nodeName ?? '']`. */
export type Indexer<T> = (object: T) => readonly string[];

export class ObjectCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexers: ReadonlyMap<string, Indexer<T>>;
  readonly #indexes = new Map<string, Map<string, Set<string>>>();

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

  /** The objects that the indexer of that name gave that value for. */
  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new RangeError(`there is no index ${name}`);
    return [...(index.get(value) ?? [])].map((key) => this.#objects.get(key) as T);
  }

  /** Stores the object and gives what was there before. */
  set(object: T): T | undefined {
    const key = keyText(keyOf(object));
    const old = this.#objects.get(key);
    if (old !== undefined) this.#unindex(key, old);
    this.#objects.set(key, object);
    for (const [name, indexer] of this.#indexers) {
      const index = this.#indexes.get(name) as Map<string, Set<string>>;
      for (const value of indexer(object)) {
        const keys = index.get(value);
        if (keys === undefined) index.set(value, new Set([key]));
        else keys.add(key);
      }
    }
    return old;
  }

  /** Forgets the object of that key and gives what was there. */
  delete(key: string): T | undefined {
    const old = this.#objects.get(key);
    if (old === undefined) return undefined;
    this.#unindex(key, old);
    this.#objects.delete(key);
    return old;
  }

  #unindex(key: string, object: T): void {
    for (const [name, indexer] of this.#indexers) {
      const index = this.#indexes.get(name) as Map<string, Set<string>>;
      for (const value of indexer(object)) {
        const keys = index.get(value);
        keys?.delete(key);
        if (keys?.size === 0) index.delete(value);
      }
    }
  }
}
