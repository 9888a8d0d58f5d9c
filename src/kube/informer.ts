/**
 * Keeps a cache of one kind in sync with the API server and notifies handlers of changes.
 *
 * It is a state machine (see {@link InformerState}): the current state is listed in pages, or streamed over a watch, into a
 * separate store, which replaces the cache in one step; then the watch continues from the last resource version. A watch that
 * ends or breaks is reopened at that version, so that nothing is lost. An expired version (410) leads back to listing, and only
 * the difference to the cache is reported, so that nothing is reported twice.
 */
import { type KubeObject, keyOf, keyText, type ObjectKey, type Resource } from '../apis/kubernetes/object.ts';
import type { Clock } from '../platform/clock.ts';
import { hasCode } from '../platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';
import { Turns } from '../platform/turns.ts';
import type { KubeClient, Selection, WatchEvent } from './client.ts';
import { type Indexer, ObjectCache } from './object-cache.ts';
import { TroubleLog } from './trouble-log.ts';

export interface InformerHandler<T> {
  added?(object: T): void;
  /** Old and new differ in resource version. */
  updated?(object: T, old: T): void;
  /** The final object, and its last known state before. */
  deleted?(object: T, known: T): void;
}

export type InformerState =
  | { readonly phase: 'listing'; readonly found: readonly KubeObject[]; readonly continue?: string }
  | { readonly phase: 'streaming' }
  | { readonly phase: 'watching'; readonly resourceVersion: string }
  | { readonly phase: 'backing-off'; readonly delayMs: number; readonly next: InformerState };

export interface InformerOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly kind: Resource<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Logger;
  readonly selection?: Selection;
  readonly indexers?: Readonly<Record<string, Indexer<T>>>;
  /**
   * Strips each object before it is cached; by default drops `managedFields`, which are large and never read. Names, UID and
   * resource version must stay.
   */
  readonly transform?: (object: T) => T;
  readonly pageSize?: number;
  /** `stream` requests the current state over the watch, and falls back to pages on servers without that. */
  readonly initial?: 'pages' | 'stream';
}

const FIRST_DELAY_MS = 800;
const LONGEST_DELAY_MS = 30_000;
/** A watch that ends sooner counts as a failure, so that it is not reopened in a hot loop. */
const SHORTEST_WATCH_MS = 1_000;
const SHORTEST_TIMEOUT_SECONDS = 300;
/** A watch that is silent for this long after its timeout counts as a dead connection. */
const SILENCE_MS = 30_000;
/** Yields to the event loop after this many events and this much time; more events wait in the socket. */
const EVENTS_TOGETHER = 16;
const EVENTS_MS = 4;

export class Informer<T extends KubeObject> {
  readonly kind: Resource<T>;
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #trouble: TroubleLog;
  readonly #selection: Selection;
  readonly #transform: (object: T) => T;
  readonly #pageSize: number;
  readonly #cache: ObjectCache<T>;
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #syncWaiters = new Set<() => void>();
  readonly #turns: Turns;
  #initial: 'pages' | 'stream';
  #state: InformerState;
  #failures = 0;
  #synced = false;

  constructor(options: InformerOptions<T>) {
    this.kind = options.kind;
    this.#client = options.client;
    this.#clock = options.clock;
    this.#random = options.random.split(`informer/${options.kind.group}/${options.kind.plural}`);
    this.#logger = (options.logger ?? SILENT_LOGGER).with({ logger: 'informer', resource: options.kind.plural });
    this.#trouble = new TroubleLog({ clock: options.clock, logger: this.#logger });
    this.#selection = options.selection ?? {};
    this.#transform = options.transform ?? withoutManagedFields;
    this.#pageSize = options.pageSize ?? 500;
    this.#initial = options.initial ?? 'pages';
    this.#cache = new ObjectCache(options.indexers);
    this.#turns = new Turns(options.clock, EVENTS_TOGETHER, EVENTS_MS);
    this.#state = this.#fromTheStart();
  }

  /** The state of the state machine. */
  get state(): InformerState {
    return this.#state;
  }

  /** Whether the cache holds the first full state, and every handler was notified of it. */
  get hasSynced(): boolean {
    return this.#synced;
  }

  /** Resolves when the cache first holds the full state. */
  async synced(signal: AbortSignal): Promise<void> {
    if (this.#synced) return;
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const done = (): void => {
        signal.removeEventListener('abort', stop);
        this.#syncWaiters.delete(done);
        resolve();
      };
      const stop = (): void => {
        this.#syncWaiters.delete(done);
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#syncWaiters.add(done);
    });
  }

  get(key: ObjectKey | string): T | undefined {
    return this.#cache.get(key);
  }

  list(): T[] {
    return this.#cache.list();
  }

  byIndex(name: string, value: string): T[] {
    return this.#cache.byIndex(name, value);
  }

  get size(): number {
    return this.#cache.size;
  }

  /** The number of handlers, to find handlers that were never removed. */
  get handlers(): number {
    return this.#handlers.size;
  }

  /** Notifies the handler of all existing objects, as added, and of every later change. Call the result to stop. */
  addHandler(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#cache.list()) this.#call(handler, (to) => to.added?.(object));
    return () => this.#handlers.delete(handler);
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#state = await this.#step(this.#state, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#state = this.#afterFailure(this.#state, error);
      }
    }
  }

  #step(state: InformerState, signal: AbortSignal): Promise<InformerState> {
    switch (state.phase) {
      case 'listing':
        return this.#listPage(state, signal);
      case 'streaming':
        return this.#watch(undefined, signal);
      case 'watching':
        return this.#watch(state.resourceVersion, signal);
      case 'backing-off':
        return this.#clock.sleep(state.delayMs, signal).then(() => state.next);
    }
  }

  async #listPage(state: InformerState & { phase: 'listing' }, signal: AbortSignal): Promise<InformerState> {
    const page = await this.#client.list(
      this.kind,
      {
        ...this.#selection,
        limit: this.#pageSize,
        ...(state.continue === undefined ? {} : { continue: state.continue }),
      },
      { signal, priority: 'low' },
    );
    const found = state.found.concat(page.items.map(this.#transform));
    if (page.continue !== undefined) return { phase: 'listing', found, continue: page.continue };
    this.#replace(found as T[]);
    return { phase: 'watching', resourceVersion: page.resourceVersion };
  }

  /** Watches from a version, or streams the current state first when there is none. */
  async #watch(from: string | undefined, signal: AbortSignal): Promise<InformerState> {
    const timeoutSeconds = SHORTEST_TIMEOUT_SECONDS + this.#random.below(SHORTEST_TIMEOUT_SECONDS);
    const limit = this.#clock.deadline(timeoutSeconds * 1000 + SILENCE_MS, signal);
    const openedAt = this.#clock.elapsed();
    const query = { ...this.#selection, allowBookmarks: true, timeoutSeconds };
    const start = from === undefined ? { sendInitialEvents: true } : { resourceVersion: from };
    let initial: Map<string, T> | undefined = from === undefined ? new Map() : undefined;
    let resourceVersion = from;
    try {
      const events = this.#client.watch(this.kind, { ...query, ...start }, { signal: limit.signal });
      for await (const event of events) {
        await this.#turns.take(limit.signal);
        if (initial === undefined) {
          resourceVersion = this.#apply(event);
          this.#state = { phase: 'watching', resourceVersion };
        } else if (event.type !== 'BOOKMARK') {
          collect(initial, event.type, this.#transform(event.object));
        } else if (event.initialEventsEnd) {
          this.#replace([...initial.values()]);
          initial = undefined;
          resourceVersion = event.resourceVersion;
          this.#state = { phase: 'watching', resourceVersion };
        }
      }
    } finally {
      limit.cancel();
      if (this.#clock.elapsed() - openedAt >= SHORTEST_WATCH_MS) this.#failures = 0;
    }
    const next: InformerState =
      initial === undefined && resourceVersion !== undefined
        ? { phase: 'watching', resourceVersion }
        : this.#fromTheStart();
    if (signal.aborted || this.#clock.elapsed() - openedAt >= SHORTEST_WATCH_MS) return next;
    return this.#backOff(next);
  }

  /** Applies one event to the cache and returns the version to continue from. */
  #apply(event: WatchEvent<T>): string {
    if (event.type === 'BOOKMARK') return event.resourceVersion;
    const object = this.#transform(event.object);
    if (event.type === 'DELETED') this.#remove(keyText(keyOf(object)), object);
    else this.#put(object);
    return object.metadata.resourceVersion ?? '';
  }

  #replace(objects: readonly T[]): void {
    const gone = new Set(this.#cache.keys());
    for (const object of objects) {
      gone.delete(keyText(keyOf(object)));
      this.#put(object);
    }
    for (const key of gone) this.#remove(key);
    this.#synced = true;
    for (const waiter of [...this.#syncWaiters]) waiter();
  }

  #put(object: T): void {
    const known = this.#cache.get(keyText(keyOf(object)));
    if (known !== undefined && known.metadata.resourceVersion === object.metadata.resourceVersion) return;
    // Another object of the same name: it was deleted and recreated while no watch was open.
    const replaced = known !== undefined && known.metadata.uid !== object.metadata.uid;
    if (replaced) this.#remove(keyText(keyOf(known)));
    const old = this.#cache.set(object);
    for (const handler of this.#handlers) {
      this.#call(handler, (to) => (old === undefined ? to.added?.(object) : to.updated?.(object, old)));
    }
  }

  #remove(key: string, last?: T): void {
    const known = this.#cache.delete(key);
    if (known === undefined) return;
    for (const handler of this.#handlers) this.#call(handler, (to) => to.deleted?.(last ?? known, known));
  }

  /** A handler that throws has a bug, which must not break the cache. */
  #call(handler: InformerHandler<T>, tell: (handler: InformerHandler<T>) => void): void {
    try {
      tell(handler);
    } catch (error) {
      this.#logger.error('informer handler failed', { error });
    }
  }

  #afterFailure(state: InformerState, error: unknown): InformerState {
    if (hasCode(error, 'KUBE_EXPIRED')) {
      this.#logger.debug('resource version expired, listing again', { phase: state.phase });
      // The first time at once; repeated expiry backs off like any other failure.
      return this.#failures++ === 0 ? this.#fromTheStart() : this.#backOff(this.#fromTheStart());
    }
    if (state.phase === 'streaming' && hasCode(error, 'KUBE_BAD_REQUEST', 'KUBE_INVALID', 'KUBE_UNSUPPORTED')) {
      this.#initial = 'pages';
      return this.#fromTheStart();
    }
    this.#trouble.warn('cannot watch, will try again', error, { phase: state.phase, failures: this.#failures + 1 });
    return this.#backOff(state);
  }

  #backOff(next: InformerState): InformerState {
    const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#failures) * this.#random.between(1, 2);
    this.#failures++;
    return { phase: 'backing-off', delayMs, next };
  }

  #fromTheStart(): InformerState {
    return this.#initial === 'stream' ? { phase: 'streaming' } : { phase: 'listing', found: [] };
  }
}

function collect<T extends KubeObject>(
  objects: Map<string, T>,
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  object: T,
): void {
  const key = keyText(keyOf(object));
  if (type === 'DELETED') objects.delete(key);
  else objects.set(key, object);
}

/** A copy without the bookkeeping of server-side apply. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
