/**
 * Remembers objects that this process wrote until the cache shows them, so that no decision is based on an object it has already
 * changed. Every write names the version it was decided on. As long as the cache shows one of the replaced versions, the written
 * object is the newer one.
 */
import { NODE_CLAIMS } from '../apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../apis/karpenter/node-pool.ts';
import { NODES } from '../apis/kubernetes/node.ts';
import { type KubeObject, keyOf, type ObjectKey, type Resource } from '../apis/kubernetes/object.ts';
import { SPOT_POLICIES } from '../apis/spindrift/spot-policy.ts';
import type { KubeClient, SubresourceOptions, WriteOptions } from '../kube/client.ts';
import { type InformerHandler, withoutManagedFields } from '../kube/informer.ts';
import type { ClusterInformers } from '../state/cluster-informers.ts';

interface PatchBody {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

interface Written {
  readonly object: KubeObject;
  /** Versions that it replaced. */
  readonly over: Set<string | undefined>;
}

/** Informers of the kinds written through this class. */
type WrittenInformers = Pick<ClusterInformers, 'nodeClaims' | 'nodes' | 'nodePools' | 'spotPolicies'>;

/** The part of an informer that does not depend on the kind. */
interface ShowingInformer {
  get(key: ObjectKey): KubeObject | undefined;
  addHandler(handler: InformerHandler<KubeObject>): () => void;
}

export class OwnWrites {
  readonly #client: KubeClient;
  readonly #informers: ReadonlyMap<string, ShowingInformer>;
  readonly #written = new Map<string, Written>();

  constructor(client: KubeClient, informers: WrittenInformers) {
    this.#client = client;
    const { nodeClaims, nodes, nodePools, spotPolicies } = informers;
    this.#informers = new Map<string, ShowingInformer>([
      [NODE_CLAIMS.kind, nodeClaims],
      [NODES.kind, nodes],
      [NODE_POOLS.kind, nodePools],
      [SPOT_POLICIES.kind, spotPolicies],
    ]);
    const deleted = ({ metadata }: KubeObject): void => void this.#written.delete(metadata.uid ?? '');
    const updated = (object: KubeObject): void => {
      if (isSame(this.#written.get(object.metadata.uid ?? '')?.object, object)) deleted(object);
    };
    for (const informer of this.#informers.values()) informer.addHandler({ updated, deleted });
  }

  /** Number of objects whose cached version is outdated. */
  get size(): number {
    return this.#written.size;
  }

  /** The newest known version: the given one, or the one this process wrote if the cache or the caller is behind. */
  newest<T extends KubeObject>(cached: T): T;
  newest<T extends KubeObject>(cached: T | undefined): T | undefined;
  newest<T extends KubeObject>(cached: T | undefined): T | undefined {
    const { uid = '', resourceVersion } = cached?.metadata ?? {};
    const written = this.#written.get(uid);
    if (written === undefined) return cached;
    if (written.over.has(resourceVersion) || this.#isBehind(written)) return written.object as T;
    this.#written.delete(uid);
    return cached;
  }

  #isBehind({ object, over }: Written): boolean {
    const shown = this.#informers.get(object.kind)?.get(keyOf(object))?.metadata;
    return shown !== undefined && shown.uid === object.metadata.uid && over.has(shown.resourceVersion);
  }

  /**
   * Merges into an object, if it still is the one that was decided on: lists such as conditions, taints and finalizers are
   * written whole, and nobody else's write may be lost. KUBE_CONFLICT when it is not; then look again and decide again.
   */
  async patch<T extends KubeObject>(
    kind: Resource<T>,
    object: T,
    body: PatchBody,
    options: WriteOptions & SubresourceOptions,
  ): Promise<T> {
    const { uid, resourceVersion } = object.metadata;
    const merged = { ...body, metadata: { ...body.metadata, uid, resourceVersion } };
    const patched = await this.#client.patch(kind, keyOf(object), { type: 'merge', body: merged }, options);
    // Its echo may have come before the answer.
    const shown = this.#informers.get(kind.kind)?.get(keyOf(object));
    if (!isSame(shown, patched)) this.#remember(withoutManagedFields(patched), resourceVersion);
    return patched;
  }

  #remember(object: KubeObject, over: string | undefined): void {
    const { uid = '', resourceVersion, deletionTimestamp, finalizers = [] } = object.metadata;
    // Nothing holds it any more: it is gone.
    if (deletionTimestamp !== undefined && finalizers.length === 0) return;
    if (resourceVersion === over) return;
    const before = this.#written.get(uid)?.over ?? [];
    this.#written.set(uid, { object, over: new Set([...before, over]) });
  }
}

function isSame(one: KubeObject | undefined, other: KubeObject): boolean {
  return one !== undefined && one.metadata.resourceVersion === other.metadata.resourceVersion;
}
