/**
 * Deletes objects whose owners are gone, and carries out foreground and orphan deletions, as the garbage collector of
 * kube-controller-manager does. It needs no timer: it works right after the write that made it necessary.
 */
import { type KubeObject, type OwnerReference, parseKey } from '../../apis/kubernetes/object.ts';
import type { ApiServer } from '../apiserver/api-server.ts';
import { deleteObject, FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../apiserver/deleting.ts';
import type { Draft, Kind } from '../apiserver/kinds/kind.ts';
import type { World } from '../apiserver/world.ts';
import { storeUpdate } from '../apiserver/writing.ts';
import type { StoreEvent } from '../event-log.ts';
import { OwnerGraph, ownersOf, type Place } from './owner-graph.ts';

/** The garbage collector of one API server. */
export class GarbageCollector {
  readonly #world: World;
  readonly #graph = new OwnerGraph();
  readonly #queue: Place[] = [];
  #working = false;

  constructor(server: ApiServer) {
    this.#world = server.world;
  }

  /** Observes the store until the signal aborts. */
  start(signal: AbortSignal): void {
    const { store, kinds } = this.#world;
    for (const { collection } of kinds.collections()) {
      for (const key of store.collection(collection).keys()) {
        const object = store.get(collection, key) as KubeObject;
        this.#note({ type: 'ADDED', revision: 0, collection, key, object, previous: undefined });
      }
    }
    const stop = store.observe((event) => this.#note(event));
    signal.addEventListener('abort', stop, { once: true });
  }

  #note(event: StoreEvent): void {
    this.#graph.update(event);
    const { metadata } = event.object;
    if (event.type === 'DELETED') {
      for (const dependent of this.#graph.dependentsOf(metadata.uid)) this.#enqueue(dependent);
      for (const { uid } of ownersOf(event.object)) {
        const owner = this.#graph.placeOf(uid);
        if (owner !== undefined) this.#enqueue(owner);
      }
      return;
    }
    const ends = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length > 0;
    const before = event.previous?.metadata.ownerReferences;
    if (ends || (metadata.ownerReferences !== undefined && metadata.ownerReferences !== before)) this.#enqueue(event);
  }

  #enqueue({ collection, key }: Place): void {
    this.#queue.push({ collection, key });
    if (this.#working) return;
    this.#working = true;
    queueMicrotask(() => this.#work());
  }

  #work(): void {
    for (let place = this.#queue.shift(); place !== undefined; place = this.#queue.shift()) this.#look(place);
    this.#working = false;
  }

  #look(place: Place): void {
    const object = this.#world.store.get(place.collection, place.key) as Draft | undefined;
    const kind = this.#kindOf(place);
    if (object === undefined || kind === undefined) return;
    const { finalizers = [], deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined) {
      if (finalizers.includes(ORPHAN_FINALIZER)) this.#orphan(kind, place, object);
      else if (finalizers.includes(FOREGROUND_FINALIZER)) this.#foreground(kind, place, object);
      return;
    }
    this.#checkOwners(kind, place, object);
  }

  /**
   * Deletes an object if each of its owners is gone or waits for its dependents to be deleted. If another owner
   * remains, only the references to those owners are removed.
   */
  #checkOwners(kind: Kind, place: Place, object: Draft): void {
    const owners = ownersOf(object);
    if (owners.length === 0) return;
    const gone = owners.filter((owner) => this.#isGone(owner));
    const waiting = owners.filter((owner) => this.#isWaiting(owner));
    const solid = owners.filter((owner) => !gone.includes(owner) && !waiting.includes(owner));
    if (solid.length > 0) {
      if (gone.length + waiting.length > 0) this.#setOwners(kind, place, object, solid);
      return;
    }
    const { uid } = object.metadata;
    const blocks = waiting.length > 0 && this.#graph.dependentsOf(uid).length > 0;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    deleteObject(this.#world, kind, parseKey(place.key), {
      propagationPolicy: blocks ? 'Foreground' : 'Background',
      ...preconditions,
    });
  }

  /** An owner of a kind that is not served cannot be looked up, so it counts as existing. */
  #isGone(owner: OwnerReference): boolean {
    return !this.#graph.exists(owner.uid) && this.#world.kinds.byName(owner.apiVersion, owner.kind) !== undefined;
  }

  #isWaiting(owner: OwnerReference): boolean {
    const place = this.#graph.placeOf(owner.uid);
    const metadata = place === undefined ? undefined : this.#world.store.get(place.collection, place.key)?.metadata;
    return metadata?.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(FOREGROUND_FINALIZER);
  }

  #orphan(kind: Kind, place: Place, object: Draft): void {
    const { uid } = object.metadata;
    for (const dependent of this.#graph.dependentsOf(uid)) {
      const owned = this.#world.store.get(dependent.collection, dependent.key) as Draft | undefined;
      const ownedKind = this.#kindOf(dependent);
      if (owned === undefined || ownedKind === undefined) continue;
      this.#setOwners(
        ownedKind,
        dependent,
        owned,
        ownersOf(owned).filter((owner) => owner.uid !== uid),
      );
    }
    this.#removeFinalizer(kind, place, ORPHAN_FINALIZER);
  }

  #foreground(kind: Kind, place: Place, object: Draft): void {
    const { uid } = object.metadata;
    const blocking = this.#graph.dependentsOf(uid).filter((dependent) => this.#blocks(dependent, uid ?? ''));
    if (blocking.length === 0) {
      this.#removeFinalizer(kind, place, FOREGROUND_FINALIZER);
      return;
    }
    for (const dependent of blocking) {
      const owned = this.#world.store.get(dependent.collection, dependent.key);
      if (owned?.metadata.deletionTimestamp === undefined) this.#enqueue(dependent);
    }
  }

  /** A dependent blocks the deletion of its owner, unless it waits for that owner itself: that would be a deadlock. */
  #blocks(dependent: Place, ownerUid: string): boolean {
    const object = this.#world.store.get(dependent.collection, dependent.key);
    const reference = object === undefined ? undefined : ownersOf(object).find(({ uid }) => uid === ownerUid);
    if (object === undefined || reference?.blockOwnerDeletion !== true) return false;
    const isWaiting = (object.metadata.finalizers ?? []).includes(FOREGROUND_FINALIZER);
    return !(isWaiting && this.#owns(object.metadata.uid, ownerUid, new Set()));
  }

  #owns(uid: string | undefined, sought: string, seen: Set<string>): boolean {
    if (uid === undefined || seen.has(uid)) return false;
    seen.add(uid);
    return this.#graph.dependentsOf(uid).some(({ collection, key }) => {
      const dependent = this.#world.store.get(collection, key)?.metadata.uid;
      return dependent === sought || this.#owns(dependent, sought, seen);
    });
  }

  #setOwners(kind: Kind, place: Place, object: Draft, owners: readonly OwnerReference[]): void {
    const { ownerReferences: _, ...metadata } = object.metadata;
    const changed = { ...object, metadata: owners.length === 0 ? metadata : { ...metadata, ownerReferences: owners } };
    storeUpdate(this.#world, kind, parseKey(place.key), object, changed, false);
  }

  #removeFinalizer(kind: Kind, place: Place, finalizer: string): void {
    const object = this.#world.store.get(place.collection, place.key) as Draft | undefined;
    if (object === undefined) return;
    const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    const { finalizers: _, ...rest } = object.metadata;
    const changed = { ...object, metadata: finalizers.length === 0 ? rest : { ...rest, finalizers } };
    storeUpdate(this.#world, kind, parseKey(place.key), object, changed, false);
  }

  #kindOf({ collection }: Place): Kind | undefined {
    return this.#world.kinds.ofCollection(collection);
  }
}
