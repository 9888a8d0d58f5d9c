/** Watch: a position in the log of a collection that advances as its reader takes events. */
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { WatchQuery } from '../../kube/client.ts';
import type { Timer } from '../../platform/clock.ts';
import type { CollectionLog, StoreEvent } from '../event-log.ts';
import { namespaceRange } from '../store.ts';
import type { Kind } from './kinds/kind.ts';
import { type Filter, filterOf, parseRevision } from './reading.ts';
import { expired, revisionTooLarge } from './status-errors.ts';
import { viewOf, type World } from './world.ts';

/** A watch event: a change, or a bookmark. */
export type ServerWatchEvent =
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
      readonly object: KubeObject;
      /** The write that caused it; absent for objects that existed when the watch began. */
      readonly source?: StoreEvent;
    }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly initialEventsEnd: boolean };

/** The time between bookmarks, as in kube-apiserver. */
const BOOKMARK_MS = 60_000;

/**
 * One watch. It buffers no events: its reader takes them from the shared log at its own pace. If the log has dropped
 * events that the reader has not taken yet, the watch fails with 410.
 */
export class Watch {
  readonly kind: Kind;
  readonly #world: World;
  readonly #log: CollectionLog;
  readonly #namespace: string | undefined;
  readonly #filter: Filter;
  readonly #stopListening: () => void;
  readonly #timers: Timer[] = [];
  #initial: readonly KubeObject[];
  #initialIndex = 0;
  #position: number;
  /** The revision of the last event that was checked, sent or not. */
  #revision: number;
  #bookmark: 'initial-events-end' | 'due' | undefined;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(world: World, kind: Kind, query: WatchQuery) {
    const { store } = world;
    this.kind = kind;
    this.#world = world;
    this.#namespace = query.namespace;
    this.#filter = filterOf(kind, query);
    this.#log = store.log(kind.collection);
    const { resourceVersion = '', sendInitialEvents } = query;
    const asked = resourceVersion === '' ? 0 : parseRevision(resourceVersion);
    if (asked > store.revision) throw revisionTooLarge(asked, store.revision);
    const withState = sendInitialEvents ?? asked === 0;
    const from = withState || asked === 0 ? store.revision : asked;
    const oldest = store.oldestRevision(kind.collection);
    if (from < oldest) throw expired(`too old resource version: ${asked} (${oldest})`);
    this.#initial = withState ? this.#presentState() : [];
    this.#position = this.#log.positionAfter(from);
    this.#revision = from;
    if (sendInitialEvents === true) this.#bookmark = 'initial-events-end';
    this.#stopListening = store.listen(kind.collection, () => this.#notify());
    if (query.allowBookmarks === true) this.#scheduleBookmark();
    if (query.timeoutSeconds !== undefined && query.timeoutSeconds > 0) {
      this.#timers.push(world.clock.setTimer(query.timeoutSeconds * 1000, () => this.close()));
    }
  }

  /** True once the server has ended the watch; events left in the log are not sent. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Calls back once, when there may be new events. */
  onceReady(callback: () => void): void {
    this.#wake = callback;
  }

  /** The next event; undefined if there is none yet. Throws 410 if the reader is too slow. */
  take(): ServerWatchEvent | undefined {
    if (this.#ended) return undefined;
    if (this.#initialIndex < this.#initial.length) {
      const object = this.#initial[this.#initialIndex++] as KubeObject;
      if (this.#initialIndex === this.#initial.length) this.#initial = [];
      return { type: 'ADDED', object };
    }
    if (this.#bookmark === 'initial-events-end') {
      this.#bookmark = undefined;
      return { type: 'BOOKMARK', revision: this.#revision, initialEventsEnd: true };
    }
    return this.#takeFromLog() ?? this.#takeBookmark();
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopListening();
    for (const timer of this.#timers) timer.cancel();
    this.#notify();
  }

  #takeFromLog(): ServerWatchEvent | undefined {
    while (this.#position < this.#log.end) {
      const event = this.#log.at(this.#position);
      if (event === undefined) {
        this.close();
        const oldest = this.#world.store.oldestRevision(this.kind.collection);
        throw expired(`too old resource version: ${this.#revision} (${oldest})`);
      }
      this.#position++;
      this.#revision = event.revision;
      const seen = this.#asSeen(event);
      if (seen !== undefined) return seen;
    }
    return undefined;
  }

  #takeBookmark(): ServerWatchEvent | undefined {
    if (this.#bookmark !== 'due') return undefined;
    this.#bookmark = undefined;
    // No event of this collection is left in the log, so the watch is up to date with the whole store.
    this.#revision = this.#world.store.revision;
    return { type: 'BOOKMARK', revision: this.#revision, initialEventsEnd: false };
  }

  /** A write as seen through the selectors: an object may start or stop matching without being created or deleted. */
  #asSeen(event: StoreEvent): ServerWatchEvent | undefined {
    if (this.#namespace !== undefined && event.object.metadata.namespace !== this.#namespace) return undefined;
    const filter = this.#filter;
    if (filter === undefined) return { type: event.type, object: viewOf(this.kind, event.object), source: event };
    const before = event.previous !== undefined && filter(event.previous);
    const after = event.type !== 'DELETED' && filter(event.object);
    if (after) {
      return { type: before ? 'MODIFIED' : 'ADDED', object: viewOf(this.kind, event.object), source: event };
    }
    if (!before) return undefined;
    if (event.type === 'DELETED') return { type: 'DELETED', object: viewOf(this.kind, event.object), source: event };
    const { previous, revision } = event as StoreEvent & { previous: KubeObject };
    const metadata = Object.freeze({ ...previous.metadata, resourceVersion: String(revision) });
    return { type: 'DELETED', object: viewOf(this.kind, Object.freeze({ ...previous, metadata })) };
  }

  #presentState(): KubeObject[] {
    const { keys, get } = this.#world.store.snapshot(this.kind.collection);
    const [start, end] = namespaceRange(keys, this.#namespace);
    const state: KubeObject[] = [];
    for (let index = start; index < end; index++) {
      const object = get(keys[index] as string);
      if (object !== undefined && (this.#filter === undefined || this.#filter(object))) {
        state.push(viewOf(this.kind, object));
      }
    }
    return state;
  }

  #scheduleBookmark(): void {
    const timer = this.#world.clock.setTimer(BOOKMARK_MS, () => {
      this.#timers.splice(this.#timers.indexOf(timer), 1);
      this.#bookmark ??= 'due';
      this.#scheduleBookmark();
      this.#notify();
    });
    this.#timers.push(timer);
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
