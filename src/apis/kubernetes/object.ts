/** The fields of every Kubernetes object, and the names of kinds in the API. */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: 'FieldsV1';
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** Any object of any kind. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string;
}

/** Names one object of a kind; cluster-scoped objects have no namespace. */
export interface ObjectKey {
  readonly name: string;
  readonly namespace?: string;
}

/** A kind as the API serves it. The type parameter ties the objects of the kind to its name. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The name in URLs: lower case, plural. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never there at run time: it only carries the type. */
  readonly __object?: T;
}

/** Describes a kind: `resource<Pod>('v1', 'Pod', 'pods', 'namespaced')`. */
export function resource<T extends KubeObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  scope: 'namespaced' | 'cluster',
): Resource<T> {
  const slash = apiVersion.indexOf('/');
  return {
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    kind,
    plural,
    namespaced: scope === 'namespaced',
  };
}

/** `v1`, `apps/v1`. */
export function apiVersionOf(kind: Pick<Resource, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** The key of an object that has a name. */
export function keyOf(object: KubeObject): ObjectKey {
  const { name = '', namespace } = object.metadata;
  return namespace === undefined ? { name } : { name, namespace };
}

/** The key as one string, for maps and queues: `namespace/name`, or `name` where there is no namespace. */
export function keyText(key: ObjectKey): string {
  return key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
}

/** The inverse of {@link keyText}. */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
