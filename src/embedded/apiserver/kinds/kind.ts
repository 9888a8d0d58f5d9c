/** A kind as the API server serves it: everything specific to it, as data and pure functions. */
import type { KubeObject, Resource } from '../../../apis/kubernetes/object.ts';
import type { ScaleSubresource } from '../crd/custom-resource-definition.ts';
import type { Cell, ColumnDefinition } from '../crd/served-kind.ts';
import type { FieldError } from '../schema/field-error.ts';
import type { ObjectSchema } from '../schema/object-schema.ts';

/** An object while it is processed. Fields of its kind are read by name. */
export interface Draft extends KubeObject {
  readonly spec?: Fields;
  readonly status?: Fields;
  readonly [field: string]: unknown;
}

/** Fields of unknown types. */
export type Fields = Readonly<Record<string, unknown>>;

/** Context of a write: time, settings and other objects. */
export interface WriteContext {
  /** The time as Kubernetes writes it. */
  readonly now: string;
  /** New nodes get the not-ready taint, which keeps pods away until the node is ready. */
  readonly taintsNewNodes: boolean;
  /** Looks up another object, for example the priority class a pod names. */
  lookUp(collection: string, name: string): KubeObject | undefined;
  /** All objects of a collection, in no particular order. */
  all(collection: string): Iterable<KubeObject>;
}

/** How objects of a kind are defaulted, prepared and validated. All functions are pure; an absent one does nothing. */
export interface KindRules {
  /** Fills in optional fields. Runs on create, on update, and on the result of a patch. */
  defaults?(object: Draft, context: WriteContext): Draft;
  /** Last changes to a new object: initial status and fields the server owns. */
  prepareCreate?(object: Draft, context: WriteContext): Draft;
  /** Last changes to an updated object: fields that the server owns and clients cannot change. */
  prepareUpdate?(object: Draft, old: Draft, context: WriteContext): Draft;
  /** All validation errors; with the old object, also changes that are not allowed. */
  validate?(object: Draft, old?: Draft): FieldError[];
  /** A new object may include its status, as a node does when it registers. */
  readonly keepsStatusOnCreate?: boolean;
  /** Whether anything besides finalizers keeps a deleted object: a namespace stays until it is empty. */
  heldBack?(object: Draft): boolean;
  /** The grace period of a deletion for which the caller asked for `asked` seconds. Without this rule it is 0. */
  gracePeriodSeconds?(object: Draft, asked: number | undefined): number;
  /** Throws if this object may not be deleted. */
  checkDelete?(object: Draft): void;
  /** Last changes to an object that is being marked for deletion. */
  prepareDelete?(object: Draft, context: WriteContext): Draft;
  /** The form a name must have; RFC 1123 subdomain when absent. */
  readonly name?: 'label' | 'subdomain' | 'service' | 'path';
  /** For a kind that is another version of a stored object: converts between this version and the stored one. */
  readonly conversion?: { fromStored(object: Draft): Draft; toStored(object: Draft): Draft };
}

/** A kind in one version. */
export interface Kind extends Required<Omit<Resource, '__object'>> {
  readonly apiVersion: string;
  readonly listKind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** The collection that stores its objects: `pods`, `deployments.apps`. */
  readonly collection: string;
  /** The API version in which its objects are stored. */
  readonly storedVersion: string;
  /** False for custom resources. Built-in kinds accept strategic merge patches, and updates without a resource version. */
  readonly builtIn: boolean;
  /** False for kinds whose requests are answered but not stored: reviews, evictions. */
  readonly stored: boolean;
  readonly hasStatus: boolean;
  /** Whether metadata.generation counts changes of the desired state. */
  readonly hasGeneration: boolean;
  readonly scale?: ScaleSubresource;
  /** Other subresources with the kind of their objects: pods have `binding`, `eviction`, `log`. */
  readonly subresources: readonly Subresource[];
  readonly deprecationWarning?: string;
  /** The schema of its objects: field types, merge rules and validation. Undefined if there is none. */
  schema(): ObjectSchema | undefined;
  /** Whether the schema has defaults, which are filled in on every read. */
  readonly defaultsOnRead?: boolean;
  readonly columns: readonly ColumnDefinition[];
  cells(object: KubeObject, now: number): Cell[];
  /** Selectable fields besides metadata.name and metadata.namespace. */
  readonly selectableFieldNames: readonly string[];
  selectableFields(object: KubeObject): Readonly<Record<string, string>>;
  readonly rules: KindRules;
}

/** A subresource and the kind of its objects. */
export interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}
