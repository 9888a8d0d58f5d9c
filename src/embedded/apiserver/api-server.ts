/**
 * A Kubernetes API server without HTTP. Every verb is a function that takes effect at once or throws a KubeError with
 * kube-apiserver's own Status. The in-memory client and the HTTP server both call it.
 */
import type { KubeObject, ObjectKey, Resource } from '../../apis/kubernetes/object.ts';
import type { Scale } from '../../apis/kubernetes/scale.ts';
import type { Status } from '../../apis/kubernetes/status.ts';
import type { ListPage, ListQuery, Patch, Selection, WatchQuery } from '../../kube/client.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import { Store } from '../store.ts';
import { type BindRequest, bindPod } from './binding.ts';
import { serveCustomResources } from './custom-resources.ts';
import { type DeleteRequest, deleteObject } from './deleting.ts';
import { evictPod } from './evicting.ts';
import { createFirstObjects } from './first-objects.ts';
import { builtInKinds } from './kinds/built-in-kinds.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { KindRegistry } from './kinds/kind-registry.ts';
import { finalizeNamespace } from './namespace-lifecycle.ts';
import { patchObject } from './patching.ts';
import { getObject, listObjects } from './reading.ts';
import { readScale, updateScale } from './scaling.ts';
import { methodNotAllowed, noSuchPath } from './status-errors.ts';
import { Watch } from './watching.ts';
import type { World } from './world.ts';
import { createObject, updateObject, type WriteRequest } from './writing.ts';

/** Dependencies and settings of an API server. */
export interface ApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Watches can start at any of at least this many newest writes. */
  readonly rememberedEvents?: number;
  /** New nodes get the not-ready taint, as on a cluster with a node lifecycle controller. */
  readonly taintsNewNodes?: boolean;
}

/** Identifies a kind in a request. */
export type KindRef = Pick<Resource, 'group' | 'version' | 'plural'>;

/** The subresource a request is about; undefined for the object itself. */
export type Part = 'status' | 'scale' | undefined;

/** The API server of one cluster. */
export class ApiServer {
  readonly world: World;

  constructor(options: ApiServerOptions) {
    const { clock, random, rememberedEvents, taintsNewNodes = false } = options;
    const store = new Store(rememberedEvents === undefined ? {} : { rememberedEvents });
    this.world = {
      store,
      kinds: new KindRegistry(builtInKinds()),
      clock,
      random: random.split('api-server'),
      taintsNewNodes,
    };
    serveCustomResources(this.world);
    createFirstObjects(this.world);
  }

  /** The kind served under this name; 404 if there is none. */
  kind(ref: KindRef): Kind {
    return this.world.kinds.get(ref);
  }

  get(ref: KindRef, key: ObjectKey, part?: Part): KubeObject {
    const kind = this.#stored(ref);
    if (part === 'scale') return readScale(this.world, kind, key);
    checkPart(kind, part);
    return getObject(this.world, kind, key);
  }

  list(ref: KindRef, query: ListQuery = {}): ListPage<KubeObject> {
    return listObjects(this.world, this.#stored(ref), query);
  }

  watch(ref: KindRef, query: WatchQuery): Watch {
    return new Watch(this.world, this.#stored(ref), query);
  }

  create(ref: KindRef, namespace: string | undefined, object: KubeObject, request: WriteRequest = {}): KubeObject {
    const key = namespace === undefined ? {} : { namespace };
    return createObject(this.world, this.#stored(ref), key, object as Draft, request);
  }

  replace(ref: KindRef, key: ObjectKey, object: KubeObject, request: WriteRequest = {}, part?: Part): KubeObject {
    const kind = this.#stored(ref);
    if (part === 'scale') return updateScale(this.world, kind, key, () => object as Scale, request);
    checkPart(kind, part);
    return updateObject(this.world, kind, key, part ?? 'object', () => object as Draft, request);
  }

  patch(ref: KindRef, key: ObjectKey, patch: Patch, request: WriteRequest = {}, part?: Part): KubeObject {
    const kind = this.#stored(ref);
    if (part !== 'scale') checkPart(kind, part);
    return patchObject(this.world, kind, key, patch, request, part);
  }

  delete(ref: KindRef, key: ObjectKey, request: DeleteRequest = {}): KubeObject | Status {
    return deleteObject(this.world, this.#stored(ref), key, request);
  }

  /** Deletes all selected objects and returns them. */
  deleteCollection(ref: KindRef, selection: Selection, request: DeleteRequest = {}): ListPage<KubeObject> {
    const page = this.list(ref, selection);
    for (const { metadata } of page.items) {
      const { name = '', namespace } = metadata;
      this.delete(ref, namespace === undefined ? { name } : { name, namespace }, request);
    }
    return page;
  }

  evict(pod: ObjectKey, request: DeleteRequest = {}): void {
    evictPod(this.world, this.kind(POD), pod, request);
  }

  bind(pod: ObjectKey, request: BindRequest): void {
    bindPod(this.world, this.kind(POD), pod, request);
  }

  /** Sets a namespace's `spec.finalizers`. A namespace that is being deleted is removed once they are empty. */
  finalizeNamespace(name: string, finalizers: readonly string[], request: WriteRequest = {}): KubeObject {
    return finalizeNamespace(this.world, name, finalizers, request);
  }

  #stored(ref: KindRef): Kind {
    const kind = this.kind(ref);
    if (!kind.stored) throw methodNotAllowed(kind, 'the method');
    return kind;
  }
}

const POD: KindRef = { group: '', version: 'v1', plural: 'pods' };

function checkPart(kind: Kind, part: Part): void {
  if (part === 'status' && !kind.hasStatus) throw noSuchPath();
}
