import type { KubeObject } from '../apis/kubernetes/object.ts';

/** The objects of one kind by key, and their keys in list order. */
export class Collection {
  readonly #objects = new Map<string, KubeObject>();
  /** Sorted when a list needs it; sorting a nearly sorted array is cheap. */
  #keys: string[] = [];
  #sorted = true;

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  set(key: string, object: KubeObject): void {
    if (!this.#objects.has(key)) {
      this.#keys.push(key);
      this.#sorted = false;
    }
    this.#objects.set(key, object);
  }

  delete(key: string): void {
    if (this.#objects.delete(key)) this.#sorted = false;
  }

  values(): IterableIterator<KubeObject> {
    return this.#objects.values();
  }

  /** All keys in order; callers must not change the array. */
  keys(): readonly string[] {
    if (!this.#sorted) {
      // A key that was deleted and created again is there twice.
      this.#keys = [...new Set(this.#keys.filter((key) => this.#objects.has(key)))].sort();
      this.#sorted = true;
    }
    return this.#keys;
  }
}

/** The index of the first key that is not less than the text. */
export function firstNotBefore(keys: readonly string[], text: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
