/**
 * Wraps a client with faults: requests fail before or after they took effect, are delayed, or never return; watches break. So code can be
 * tested with faults against a real server's behaviour.
 */
import type { KubeObject, ObjectKey, Resource } from '../../apis/kubernetes/object.ts';
import type { Status } from '../../apis/kubernetes/status.ts';
import type { Clock } from '../../platform/clock.ts';
import { SpindriftError } from '../../platform/errors.ts';
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
} from '../client.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'replace' | 'patch' | 'delete' | 'evict' | 'bind';

/** The fault of one request. */
export type Fault =
  /** It never reaches the server. */
  | { readonly kind: 'lost' }
  /** It takes effect, but the answer is lost. */
  | { readonly kind: 'unanswered' }
  /** It reaches the server after a delay. */
  | { readonly kind: 'late'; readonly byMs: number }
  /** It hangs until the caller aborts. */
  | { readonly kind: 'hangs' }
  /** The server rejects it with this error, optionally after a delay, as with a slow webhook. */
  | { readonly kind: 'refused'; readonly error: Error; readonly afterMs?: number };

export interface FaultyClientOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Called before each request. `name` is the object's name or generateName; empty for requests about no single object. */
  fault(verb: Verb, kind: string, name: string): Fault | undefined;
  /** Delay of watch events. */
  readonly lagMs?: number;
}

export class FaultyClient implements KubeClient {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #fault: FaultyClientOptions['fault'];
  readonly #lagMs: number;
  readonly #watches = new Set<AbortController>();

  constructor(options: FaultyClientOptions) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#fault = (verb, kind, name) => options.fault(verb, kind, name);
    this.#lagMs = options.lagMs ?? 0;
  }

  /** The number of open watches. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** Ends every open watch: with an error as for a broken connection, or normally as when the server ends it. */
  cutWatches(how: 'broken' | 'ended' | Error): void {
    for (const watch of this.#watches) watch.abort(how === 'broken' ? unreachable('watch') : how);
  }

  get<T extends KubeObject>(
    kind: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions & SubresourceOptions,
  ): Promise<T> {
    return this.#call('get', kind.plural, key.name, options, () => this.#client.get(kind, key, options));
  }

  list<T extends KubeObject>(kind: Resource<T>, query?: ListQuery, options?: RequestOptions): Promise<ListPage<T>> {
    return this.#call('list', kind.plural, '', options, () => this.#client.list(kind, query, options));
  }

  async *watch<T extends KubeObject>(
    kind: Resource<T>,
    query: WatchQuery,
    options: { readonly signal: AbortSignal },
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    await this.#call('watch', kind.plural, '', options, async () => {});
    const cut = new AbortController();
    this.#watches.add(cut);
    try {
      const signal = AbortSignal.any([options.signal, cut.signal]);
      const events = this.#client.watch(kind, query, { signal });
      for await (const event of this.#lagMs > 0 ? late(events, this.#clock, this.#lagMs) : events) {
        if (cut.signal.aborted) break;
        yield event;
      }
      if (cut.signal.reason instanceof Error) throw cut.signal.reason;
    } finally {
      this.#watches.delete(cut);
    }
  }

  create<T extends KubeObject>(kind: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
    return this.#call('create', kind.plural, nameOf(object), options, () => this.#client.create(kind, object, options));
  }

  replace<T extends KubeObject>(kind: Resource<T>, object: T, options?: WriteOptions & SubresourceOptions): Promise<T> {
    return this.#call('replace', kind.plural, nameOf(object), options, () =>
      this.#client.replace(kind, object, options),
    );
  }

  patch<T extends KubeObject>(
    kind: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions & SubresourceOptions,
  ): Promise<T> {
    return this.#call('patch', kind.plural, key.name, options, () => this.#client.patch(kind, key, patch, options));
  }

  delete<T extends KubeObject>(kind: Resource<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | Status> {
    return this.#call('delete', kind.plural, key.name, options, () => this.#client.delete(kind, key, options));
  }

  evict(pod: ObjectKey, options?: EvictOptions): Promise<void> {
    return this.#call('evict', 'pods', pod.name, options, () => this.#client.evict(pod, options));
  }

  bind(pod: ObjectKey, nodeName: string, options?: RequestOptions): Promise<void> {
    return this.#call('bind', 'pods', pod.name, options, () => this.#client.bind(pod, nodeName, options));
  }

  async #call<T>(
    verb: Verb,
    kind: string,
    name: string,
    options: RequestOptions | undefined,
    send: () => Promise<T>,
  ): Promise<T> {
    const fault = this.#fault(verb, kind, name);
    if (fault === undefined) return send();
    const limit = this.#clock.deadline(options?.timeoutMs ?? 30_000, options?.signal);
    try {
      switch (fault.kind) {
        case 'lost':
          throw unreachable(verb);
        case 'refused':
          if (fault.afterMs !== undefined) await this.#clock.sleep(fault.afterMs, limit.signal);
          throw fault.error;
        case 'unanswered':
          await send();
          throw unreachable(verb);
        case 'late':
          await this.#clock.sleep(fault.byMs, limit.signal);
          return await send();
        case 'hangs':
          await this.#clock.sleep(Number.MAX_SAFE_INTEGER, limit.signal);
          throw unreachable(verb);
      }
    } finally {
      limit.cancel();
    }
  }
}

/** Delays each event; the order is kept, and the end is delayed too. */
async function* late<T>(events: AsyncIterable<T>, clock: Clock, byMs: number): AsyncGenerator<T, void, undefined> {
  const coming: { readonly event: T; readonly at: number }[] = [];
  let wake = (): void => {};
  let ended = false;
  const heard = (async () => {
    try {
      for await (const event of events) {
        coming.push({ event, at: clock.elapsed() + byMs });
        wake();
      }
    } finally {
      ended = true;
      wake();
    }
  })();
  heard.catch(() => {});
  while (!ended || coming.length > 0) {
    const [next] = coming;
    if (next === undefined) await new Promise<void>((resolve) => (wake = resolve));
    else if (next.at > clock.elapsed()) await clock.sleep(next.at - clock.elapsed());
    else yield (coming.shift() as typeof next).event;
  }
  await heard;
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name ?? metadata.generateName ?? '';
}

function unreachable(method: string): SpindriftError {
  return new SpindriftError('KUBE_UNREACHABLE', { method, path: '', server: 'the test', problem: 'connection reset' });
}
