import type { KubeObject, OwnerReference } from '../../apis/kubernetes/object.ts';
import type { StoreEvent } from '../event-log.ts';

/** Where an object is stored. */
export interface Place {
  readonly collection: string;
  readonly key: string;
}

/** Owners and dependents by uid, kept in step with the store. */
export class OwnerGraph {
  readonly #places = new Map<string, Place>();
  readonly #dependents = new Map<string, Map<string, Place>>();

  /** Records a write. */
  update(event: StoreEvent): void {
    const { uid } = event.object.metadata;
    if (uid === undefined) return;
    const place = { collection: event.collection, key: event.key };
    if (event.type === 'DELETED') this.#places.delete(uid);
    else if (event.type === 'ADDED') this.#places.set(uid, place);
    const before = event.previous?.metadata.ownerReferences;
    const after = event.type === 'DELETED' ? undefined : event.object.metadata.ownerReferences;
    if (before === after) return;
    for (const owner of before ?? []) this.#unlink(owner, uid);
    for (const owner of after ?? []) this.#link(owner, uid, place);
  }

  /** Whether an object with this uid exists. */
  exists(uid: string): boolean {
    return this.#places.has(uid);
  }

  placeOf(uid: string): Place | undefined {
    return this.#places.get(uid);
  }

  dependentsOf(uid: string | undefined): Place[] {
    return uid === undefined ? [] : [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  #link(owner: OwnerReference, uid: string, place: Place): void {
    const dependents = this.#dependents.get(owner.uid) ?? new Map<string, Place>();
    dependents.set(uid, place);
    this.#dependents.set(owner.uid, dependents);
  }

  #unlink(owner: OwnerReference, uid: string): void {
    const dependents = this.#dependents.get(owner.uid);
    dependents?.delete(uid);
    if (dependents?.size === 0) this.#dependents.delete(owner.uid);
  }
}

/** The owner references of an object. */
export function ownersOf(object: KubeObject): readonly OwnerReference[] {
  return object.metadata.ownerReferences ?? [];
}
