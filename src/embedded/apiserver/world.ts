import { type KubeObject, keyText, type ObjectKey } from '../../apis/kubernetes/object.ts';
import { type Clock, toTimestamp } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import { frozenCopy } from '../frozen.ts';
import type { Store } from '../store.ts';
import type { Draft, Kind, WriteContext } from './kinds/kind.ts';
import type { KindRegistry } from './kinds/kind-registry.ts';
import { badRequest, notFound } from './status-errors.ts';

/** The state that all parts of the API server share. */
export interface World {
  readonly store: Store;
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  readonly random: Random;
  /** New nodes get the not-ready taint; a controller must remove it. */
  readonly taintsNewNodes: boolean;
}

/** The context for a write made now. */
export function writeContext(world: World): WriteContext {
  return {
    now: toTimestamp(world.clock.now()),
    taintsNewNodes: world.taintsNewNodes,
    lookUp: (collection, name) => world.store.get(collection, name),
    all: (collection) => world.store.collection(collection).values(),
  };
}

/** The storage key of an object. */
export function storageKey(kind: Kind, key: ObjectKey): string {
  if (!kind.namespaced) return key.name;
  if (key.namespace === undefined || key.namespace === '') {
    throw badRequest('an empty namespace may not be set when a resource name is provided');
  }
  return keyText({ name: key.name, namespace: key.namespace });
}

/** The stored object; 404 if there is none. */
export function mustExist(world: World, kind: Kind, key: ObjectKey): Draft {
  const stored = world.store.get(kind.collection, storageKey(kind, key));
  if (stored === undefined) throw notFound(kind, key.name);
  return stored as Draft;
}

/** Keyed by the kind object, not by its name: a changed definition is another kind, with other defaults. */
const views = new WeakMap<Kind, WeakMap<KubeObject, KubeObject>>();

/** A stored object in this version of its kind. */
export function viewOf(kind: Kind, stored: KubeObject): KubeObject {
  const converts = stored.apiVersion !== kind.apiVersion;
  const filled = converts ? stored : withDefaults(kind, stored);
  if (filled === stored && !converts) return stored;
  let known = views.get(kind);
  if (known === undefined) {
    known = new WeakMap();
    views.set(kind, known);
  }
  let view = known.get(stored);
  if (view === undefined) {
    view = frozenCopy(converts ? withDefaults(kind, inVersion(kind, stored)) : filled);
    known.set(stored, view);
  }
  return view;
}

function inVersion(kind: Kind, stored: KubeObject): KubeObject {
  const converted = kind.rules.conversion?.fromStored(stored as Draft) ?? stored;
  return Object.freeze({ ...converted, apiVersion: kind.apiVersion });
}

/** Also fills in defaults below `status`, which a create drops, and in objects stored before a default was added. */
function withDefaults(kind: Kind, object: KubeObject): KubeObject {
  if (kind.defaultsOnRead !== true) return object;
  return (kind.schema()?.fillDefaults(object as never) ?? object) as KubeObject;
}

/** The inverse of {@link viewOf}. */
export function storedForm(kind: Kind, object: Draft): Draft {
  if (kind.apiVersion === kind.storedVersion) return object;
  return { ...(kind.rules.conversion?.toStored(object) ?? object), apiVersion: kind.storedVersion };
}
