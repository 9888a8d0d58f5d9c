/**
 * The client interface for a Kubernetes API server. Implementations: HTTP (`http-client.ts`) and in-memory on the embedded
 * cluster's store; `client.conformance.ts` tests both.
 *
 * Returned objects must not be changed: a client can share them with other callers (tests freeze them).
 * Failures are {@link KubeError}s with a KUBE_* code.
 */
import type { KubeObject, ObjectKey, Resource } from '../apis/kubernetes/object.ts';
import type { Status } from '../apis/kubernetes/status.ts';

/** The order of requests under the client-side rate limit: leases before reconciles before bulk reads. */
export type RequestPriority = 'high' | 'normal' | 'low';

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** The time limit of the whole call with its retries; the client's own limit when absent. Not for watches. */
  readonly timeoutMs?: number;
  readonly priority?: RequestPriority;
}

export interface Selection {
  /** Only this namespace; all namespaces when absent. */
  readonly namespace?: string;
  /** As kubectl writes it: `app=web,tier in (a,b),!canary`. */
  readonly labelSelector?: string;
  /** `metadata.name=x`, `spec.nodeName=y`, `status.phase!=Failed`, as far as the kind supports it. */
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
  /** The token for the next page; absent on the last page. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface WatchQuery extends Selection {
  /** Events after this version; without it, the current state first as ADDED events. */
  readonly resourceVersion?: string;
  /** Sends the current state first, ended by a bookmark with `initialEventsEnd` (a streaming list). */
  readonly sendInitialEvents?: boolean;
  readonly allowBookmarks?: boolean;
  /** The server ends the watch after about this long. */
  readonly timeoutSeconds?: number;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

export interface WriteOptions extends RequestOptions {
  /** The field manager that owns the written fields. */
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
}

export interface SubresourceOptions {
  /** The subresource to read or write; the object itself when absent. For `scale`, pass the kind through `scaleOf`. */
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
  /** Preconditions; KUBE_CONFLICT when the UID or resource version differs. */
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
   * The changes of a kind, in order. The iteration ends when the server ends the watch or the signal aborts, and throws on a
   * failure (KUBE_EXPIRED: list again). Leaving the loop closes the watch. Objects can lack `managedFields`.
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
   * Deletes the object, or marks it for deletion when it has finalizers or a grace period. Returns the object while it still
   * exists, or the Status when it is deleted.
   */
  delete<T extends KubeObject>(kind: Resource<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | Status>;

  /** Evicts a pod; KUBE_DISRUPTION_BUDGET when a PodDisruptionBudget forbids it now. */
  evict(pod: ObjectKey, options?: EvictOptions): Promise<void>;

  /** Binds a pod to a node, as the scheduler does. */
  bind(pod: ObjectKey, nodeName: string, options?: RequestOptions): Promise<void>;
}
