import { parseKey } from '../../apis/kubernetes/object.ts';
import type { ApiServer } from '../apiserver/api-server.ts';
import { deleteObject } from '../apiserver/deleting.ts';
import type { Draft, Kind } from '../apiserver/kinds/kind.ts';
import { withoutContentFinalizer } from '../apiserver/kinds/rules/namespace-rules.ts';
import type { World } from '../apiserver/world.ts';
import { storeUpdate } from '../apiserver/writing.ts';
import { namespaceRange } from '../store.ts';

/** Deletes everything in a namespace that is being deleted, and lets it go when nothing is left. */
export class NamespaceEmptier {
  readonly #world: World;
  /** How many objects of a namespace that is going are still there. */
  readonly #left = new Map<string, number>();

  constructor(server: ApiServer) {
    this.#world = server.world;
  }

  /** Follows the store until the signal aborts. */
  start(signal: AbortSignal): void {
    const stop = this.#world.store.observe((event) => {
      const { namespace, name, deletionTimestamp } = event.object.metadata;
      if (event.collection === 'namespaces') {
        if (event.type === 'DELETED') this.#left.delete(name ?? '');
        else if (deletionTimestamp !== undefined && !this.#left.has(name ?? '')) this.#schedule(name ?? '');
        return;
      }
      const left = event.type === 'DELETED' && namespace !== undefined ? this.#left.get(namespace) : undefined;
      if (left === undefined || namespace === undefined) return;
      this.#left.set(namespace, left - 1);
      if (left === 1) this.#schedule(namespace);
    });
    signal.addEventListener('abort', stop, { once: true });
  }

  #schedule(namespace: string): void {
    this.#left.set(namespace, 0);
    queueMicrotask(() => this.#empty(namespace));
  }

  #empty(namespace: string): void {
    const { store, kinds } = this.#world;
    const found = kinds
      .collections()
      .filter((kind) => kind.namespaced)
      .flatMap((kind) => {
        const { keys } = store.snapshot(kind.collection);
        return keys.slice(...namespaceRange(keys, namespace)).map((key): [Kind, string] => [kind, key]);
      });
    this.#left.set(namespace, found.length);
    for (const [kind, key] of found) {
      const object = store.get(kind.collection, key);
      if (object !== undefined && object.metadata.deletionTimestamp === undefined) {
        deleteObject(this.#world, kind, parseKey(key), { propagationPolicy: 'Background' });
      }
    }
    if (found.length === 0) this.#release(namespace);
  }

  #release(name: string): void {
    const kind = this.#world.kinds.get({ group: '', version: 'v1', plural: 'namespaces' });
    const stored = this.#world.store.get('namespaces', name) as Draft | undefined;
    if (stored?.metadata.deletionTimestamp === undefined) return;
    storeUpdate(this.#world, kind, { name }, stored, withoutContentFinalizer(stored), false);
  }
}
