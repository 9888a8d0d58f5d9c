/** An informer of an optional kind: it starts when the kind is served, and does not delay the start of the program. */
import type { KubeObject, ObjectKey } from '../apis/kubernetes/object.ts';
import { Informer, type InformerHandler, type InformerOptions } from './informer.ts';
import { untilServed } from './until-served.ts';

/** `unknown` until the API server has answered whether it serves the kind, and until its objects are listed. */
export type Presence = 'unknown' | 'missing' | 'read';

export class OptionalInformer<T extends KubeObject> {
  readonly #informer: Informer<T>;
  readonly #options: InformerOptions<T>;
  readonly #waiters = new Set<() => void>();
  #missing = false;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.#informer = new Informer(options);
  }

  get presence(): Presence {
    if (this.#informer.hasSynced) return 'read';
    return this.#missing ? 'missing' : 'unknown';
  }

  get(key: ObjectKey | string): T | undefined {
    return this.#informer.get(key);
  }

  list(): T[] {
    return this.#informer.list();
  }

  addHandler(handler: InformerHandler<T>): () => void {
    return this.#informer.addHandler(handler);
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, kind } = this.#options;
    const onMissing = (): void => {
      this.#missing = true;
      for (const heard of this.#waiters) heard();
    };
    try {
      await untilServed(kind, { client, clock, signal, onMissing });
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    await this.#informer.run(signal);
  }

  /** Resolves when the kind is found missing, or its objects are read. */
  async known(signal: AbortSignal): Promise<void> {
    if (this.presence !== 'unknown') return;
    const over = new AbortController();
    const missing = new Promise<void>((resolve) => this.#waiters.add(resolve));
    try {
      const read = this.#informer.synced(AbortSignal.any([signal, over.signal])).catch(() => signal.throwIfAborted());
      await Promise.race([missing, read]);
    } finally {
      over.abort();
      this.#waiters.clear();
    }
  }
}
