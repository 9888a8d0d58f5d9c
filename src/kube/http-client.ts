/** {@link KubeClient} over HTTP, for any API server. */
import { apiVersionOf, type KubeObject, keyOf, type ObjectKey, type Resource } from '../apis/kubernetes/object.ts';
import { PODS } from '../apis/kubernetes/pod.ts';
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
} from './client.ts';
import type { HttpRequest, HttpTransport } from './http-transport.ts';
import { objectPath, queryString, resourcePath } from './resource-path.ts';
import { decodeWatchEvent, lines } from './watch-decoder.ts';

const PATCH_TYPES: Readonly<Record<Patch['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

interface WireList<T> {
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[] | null;
}

export class HttpKubeClient implements KubeClient {
  readonly #transport: HttpTransport;

  constructor(transport: HttpTransport) {
    this.#transport = transport;
  }

  async get<T extends KubeObject>(
    kind: Resource<T>,
    key: ObjectKey,
    options: RequestOptions & SubresourceOptions = {},
  ): Promise<T> {
    return this.#transport.send<T>({ method: 'GET', path: objectPath(kind, key, options.subresource) }, options);
  }

  async list<T extends KubeObject>(
    kind: Resource<T>,
    query: ListQuery = {},
    options?: RequestOptions,
  ): Promise<ListPage<T>> {
    const { namespace, ...rest } = query;
    const path = collectionPath(kind, namespace) + queryString({ ...rest });
    const { metadata, items } = await this.#transport.send<WireList<T>>({ method: 'GET', path }, options);
    const { resourceVersion = '', continue: next, remainingItemCount } = metadata;
    return {
      // Items in lists of built-in kinds lack apiVersion and kind.
      items: (items ?? []).map((item) => ({ ...item, apiVersion: apiVersionOf(kind), kind: kind.kind })),
      resourceVersion,
      ...(next ? { continue: next } : {}),
      ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
    };
  }

  async *watch<T extends KubeObject>(
    kind: Resource<T>,
    query: WatchQuery,
    options: { readonly signal: AbortSignal },
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const { namespace, allowBookmarks, sendInitialEvents, ...rest } = query;
    const path =
      collectionPath(kind, namespace) +
      queryString({
        ...rest,
        watch: true,
        allowWatchBookmarks: allowBookmarks || sendInitialEvents,
        ...(sendInitialEvents ? { sendInitialEvents, resourceVersionMatch: 'NotOlderThan' } : {}),
      });
    const request: HttpRequest = { method: 'GET', path };
    const closed = new AbortController();
    const signal = AbortSignal.any([options.signal, closed.signal]);
    try {
      for await (const line of lines(await this.#transport.open(request, signal))) yield decodeWatchEvent<T>(line);
    } catch (error) {
      if (options.signal.aborted) return;
      throw this.#transport.describe(request, error);
    } finally {
      closed.abort();
    }
  }

  async create<T extends KubeObject>(kind: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const path = collectionPath(kind, object.metadata.namespace, true) + writeQuery(options);
    return this.#transport.send<T>({ method: 'POST', path, body: body(kind, object) }, options);
  }

  async replace<T extends KubeObject>(
    kind: Resource<T>,
    object: T,
    options: WriteOptions & SubresourceOptions = {},
  ): Promise<T> {
    const path = objectPath(kind, keyOf(object), options.subresource) + writeQuery(options);
    // A Scale is an object of another kind, which it carries itself.
    const sent = options.subresource === 'scale' ? JSON.stringify(object) : body(kind, object);
    return this.#transport.send<T>({ method: 'PUT', path, body: sent }, options);
  }

  async patch<T extends KubeObject>(
    kind: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions & SubresourceOptions = {},
  ): Promise<T> {
    const force = patch.type === 'apply' && patch.force ? true : undefined;
    const path = objectPath(kind, key, options.subresource) + writeQuery(options, { force });
    const sent = patch.type === 'json' ? JSON.stringify(patch.operations) : patchBody(kind, patch);
    return this.#transport.send<T>(
      { method: 'PATCH', path, body: sent, contentType: PATCH_TYPES[patch.type] },
      options,
    );
  }

  async delete<T extends KubeObject>(
    kind: Resource<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | Status> {
    const sent = JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', ...deletion(options) });
    return this.#transport.send<T | Status>({ method: 'DELETE', path: objectPath(kind, key), body: sent }, options);
  }

  async evict(pod: ObjectKey, options: EvictOptions = {}): Promise<void> {
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: pod,
      deleteOptions: deletion(options),
    };
    const path = objectPath(PODS, pod, 'eviction') + writeQuery(options);
    await this.#transport.send<Status>({ method: 'POST', path, body: JSON.stringify(eviction) }, options);
  }

  async bind(pod: ObjectKey, nodeName: string, options: RequestOptions = {}): Promise<void> {
    const target = { apiVersion: 'v1', kind: 'Node', name: nodeName };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: pod, target };
    const request: HttpRequest = {
      method: 'POST',
      path: objectPath(PODS, pod, 'binding'),
      body: JSON.stringify(binding),
    };
    await this.#transport.send<Status>(request, options);
  }
}

function collectionPath(kind: Resource, namespace: string | undefined, writing = false): string {
  if (writing && kind.namespaced && (namespace ?? '') === '') throw new RangeError(`a ${kind.kind} needs a namespace`);
  return resourcePath(kind, namespace === undefined ? {} : { namespace });
}

function writeQuery(
  options: { readonly fieldManager?: string; readonly dryRun?: boolean; readonly fieldValidation?: string },
  more: { readonly force?: boolean | undefined } = {},
): string {
  const { fieldManager, dryRun, fieldValidation } = options;
  return queryString({ fieldManager, fieldValidation, dryRun: dryRun ? 'All' : undefined, ...more });
}

function deletion(options: DeleteOptions): Readonly<Record<string, unknown>> {
  const { preconditions, propagationPolicy, gracePeriodSeconds, dryRun } = options;
  return { preconditions, propagationPolicy, gracePeriodSeconds, ...(dryRun ? { dryRun: ['All'] } : {}) };
}

function body(kind: Resource, object: KubeObject): string {
  return JSON.stringify({ ...object, apiVersion: apiVersionOf(kind), kind: kind.kind });
}

/** An apply patch must name its kind; other patches must not contain it. */
function patchBody(kind: Resource, patch: Exclude<Patch, { type: 'json' }>): string {
  if (patch.type !== 'apply') return JSON.stringify(patch.body);
  return JSON.stringify({ apiVersion: apiVersionOf(kind), kind: kind.kind, ...patch.body });
}
