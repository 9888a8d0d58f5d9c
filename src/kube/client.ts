/**
 * The one way to a Kubernetes API server. Implementations: HTTP (`http-client.ts`) and in-memory on the embedded cluster's
 * store; `client.conformance.ts` says, as tests, what each of them must do.
 *
 * Objects that come back are not to be changed: a client may share them with others (tests freeze them).
 * Failures are {@link KubeError}s with a KUBE_* code.
 */
import type { KubeObject, ObjectKey, Resource } from '../apis/kubernetes/object.ts';
import type { Status } from '../apis/kubernetes/status.ts';

/** Who goes first when the client-side rate limit is reached: leases before reconciles before bulk reading. */
export type RequestPriority = 'high' | 'normal' | 'low';

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** For the whole call with its retries; the client's own limit when absent. Does not apply to watches. */
  readonly timeoutMs?: number;
  readonly priority?: RequestPriority;
}

export interface Selection {
  /** Only this namespace; all namespaces when absent. */
  readonly namespace?: string;
  /** As kubectl writes it: `app=web,tier in (a,b),!canary`. */
  readonly labelSelector?: string;
  /** `metadata.name=x`, `spec.nodeName=y`, `status.phase!=Failed`: what the kind supports. */
  readonly fieldSelector?: string;
}

export interface ListQuery extends Selection {
  /** Objects per page; a page that is not the last carries `metadata.continue`. */
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Ask for the next page with it; absent on the last page. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface WatchQuery extends Selection {
  /** Events after this version; without it, the present state first as ADDED events. */
  readonly resourceVersion?: string;
  /** Sends the present state first, ended by a bookmark with `initialEventsEnd` (a streaming list). */
  readonly sendInitialEvents?: boolean;
  readonly allowBookmarks?: boolean;
  /** The server ends the watch after about this long. */
  readonly timeoutSeconds?: number;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

export interface WriteOptions extends RequestOptions {
  /** Who owns the fields written. */
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
}

export interface SubresourceOptions {
  /** Which part of the object is read or written; the object itself when absent. For `scale` name the kind by `scaleOf`. */
  readonly subresource?: 'status' | 'scale';
}

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'merge'; readonly body: object }
  | { readonly type: 'strategic'; readonly body: object }
  /** Server-side apply: `body` is the whole intent of the field manager, which must be named in the options. */
  | { readonly type: 'apply'; readonly body: object; readonly force?: boolean };

export interface DeleteOptions extends RequestOptions {
  /** Refused with KUBE_CONFLICT when the object is another one or a newer one than we think. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface EvictOptions extends RequestOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface KubeClient {
  get<T extends KubeObject>(
    kind: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions & SubresourceOptions,
  ): Promise<T>;

  list<T extends KubeObject>(kind: Resource<T>, query?: ListQuery, options?: RequestOptions): Promise<ListPage<T>>;

  /**
   * The changes of a kind, in order, until the server ends the watch (the iteration ends), the signal aborts (the
   * iteration ends), or something fails (it throws; KUBE_EXPIRED: list again). Leaving the loop closes the watch. Objects may
   * come without `managedFields`.
   */
  watch<T extends KubeObject>(
    kind: Resource<T>,
    query: WatchQuery,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<WatchEvent<T>>;

  create<T extends KubeObject>(kind: Resource<T>, object: T, options?: WriteOptions): Promise<T>;

  /** Writes the whole object; refused with KUBE_CONFLICT when it carries a resource version that is not the newest. */
  replace<T extends KubeObject>(kind: Resource<T>, object: T, options?: WriteOptions & SubresourceOptions): Promise<T>;

  patch<T extends KubeObject>(
    kind: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions & SubresourceOptions,
  ): Promise<T>;

  /**
   * Deletes, or marks for deletion when finalizers or a grace period hold the object. Gives the object while it is still
   * there, or the Status when it is gone.
   */
  delete<T extends KubeObject>(kind: Resource<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | Status>;

  /** Asks for a pod to be evicted; KUBE_DISRUPTION_BUDGET when a PodDisruptionBudget forbids it now. */
  evict(pod: ObjectKey, options?: EvictOptions): Promise<void>;

  /** Binds a pod to a node, as the scheduler does. */
  bind(pod: ObjectKey, nodeName: string, options?: RequestOptions): Promise<void>;
}
