import { apiVersionOf, type KubeObject, type ObjectKey, type Resource } from '../apis/kubernetes/object.ts';
import type { Status } from '../apis/kubernetes/status.ts';
import type {
  DeleteOptions,
  EvictOptions,
  KubeClient,
  ListPage,
  ListQuery,
  Patch,
  RequestOptions,
  SubresourceOptions,
  WatchEvent,
  WatchQuery,
  WriteOptions,
} from '../kube/client.ts';
import type { ApiServer } from './apiserver/api-server.ts';
import type { ServerWatchEvent, Watch } from './apiserver/watching.ts';

/**
 * A client in the same process as its server: no sockets, no serialization, no copies. Objects are the store's own,
 * frozen. It waits only for microtasks, so everything that uses it can run on virtual time.
 */
export class InMemoryClient implements KubeClient {
  readonly #server: ApiServer;
  readonly #fieldManager: string;

  constructor(server: ApiServer, options: { readonly fieldManager?: string } = {}) {
    this.#server = server;
    this.#fieldManager = options.fieldManager ?? 'spindrift';
  }

  async get<T extends KubeObject>(
    kind: Resource<T>,
    key: ObjectKey,
    options: RequestOptions & SubresourceOptions = {},
  ): Promise<T> {
    options.signal?.throwIfAborted();
    return this.#server.get(kind, key, options.subresource) as T;
  }

  async list<T extends KubeObject>(
    kind: Resource<T>,
    query: ListQuery = {},
    options: RequestOptions = {},
  ): Promise<ListPage<T>> {
    options.signal?.throwIfAborted();
    return this.#server.list(kind, query) as ListPage<T>;
  }

  async *watch<T extends KubeObject>(
    kind: Resource<T>,
    query: WatchQuery,
    options: { readonly signal: AbortSignal },
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const { signal } = options;
    if (signal.aborted) return;
    const watch = this.#server.watch(kind, query);
    const close = (): void => watch.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      while (!watch.ended) {
        const event = watch.take();
        if (event === undefined) await ready(watch);
        else yield asClientSees<T>(event);
      }
    } finally {
      signal.removeEventListener('abort', close);
      watch.close();
    }
  }

  async create<T extends KubeObject>(kind: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    options.signal?.throwIfAborted();
    return this.#server.create(kind, object.metadata.namespace, object, this.#write(options)) as T;
  }

  async replace<T extends KubeObject>(
    kind: Resource<T>,
    object: T,
    options: WriteOptions & { readonly subresource?: 'status' } = {},
  ): Promise<T> {
    options.signal?.throwIfAborted();
    const { name = '', namespace } = object.metadata;
    const key = namespace === undefined ? { name } : { name, namespace };
    return this.#server.replace(kind, key, object, this.#write(options), options.subresource) as T;
  }

  async patch<T extends KubeObject>(
    kind: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions & SubresourceOptions = {},
  ): Promise<T> {
    options.signal?.throwIfAborted();
    if (patch.type !== 'apply') {
      return this.#server.patch(kind, key, patch, this.#write(options), options.subresource) as T;
    }
    const body = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...patch.body };
    return this.#server.patch(kind, key, { ...patch, body }, options, options.subresource) as T;
  }

  async delete<T extends KubeObject>(
    kind: Resource<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | Status> {
    options.signal?.throwIfAborted();
    return this.#server.delete(kind, key, options) as T | Status;
  }

  async evict(pod: ObjectKey, options: EvictOptions = {}): Promise<void> {
    options.signal?.throwIfAborted();
    this.#server.evict(pod, options);
  }

  async bind(pod: ObjectKey, nodeName: string, options: RequestOptions = {}): Promise<void> {
    options.signal?.throwIfAborted();
    this.#server.bind(pod, { nodeName });
  }

  /** Adds the client's own field manager to writes that name none. An apply must name its manager. */
  #write(options: WriteOptions): WriteOptions {
    return options.fieldManager === undefined ? { ...options, fieldManager: this.#fieldManager } : options;
  }
}

function ready(watch: Watch): Promise<void> {
  return new Promise((resolve) => watch.onceReady(resolve));
}

function asClientSees<T extends KubeObject>(event: ServerWatchEvent): WatchEvent<T> {
  if (event.type !== 'BOOKMARK') return { type: event.type, object: event.object as T };
  return { type: 'BOOKMARK', resourceVersion: String(event.revision), initialEventsEnd: event.initialEventsEnd };
}
