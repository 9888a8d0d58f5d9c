/** A kind as the API server serves it: all that is particular about it, as data and a few pure functions. */
import type { KubeObject, Resource } from '../../../apis/kubernetes/object.ts';
import type { ScaleSubresource } from '../crd/custom-resource-definition.ts';
import type { Cell, ColumnDefinition } from '../crd/served-kind.ts';
import type { FieldError } from '../schema/field-error.ts';
import type { ObjectSchema } from '../schema/object-schema.ts';

/** Any object while it is worked on: the fields of its kind are read by name. */
export interface Draft extends KubeObject {
  readonly spec?: Fields;
  readonly status?: Fields;
  readonly [field: string]: unknown;
}

/** Fields whose types are for the reader to know. */
export type Fields = Readonly<Record<string, unknown>>;

/** What a write may need to know of the world. */
export interface WriteContext {
  /** The time as Kubernetes writes it. */
  readonly now: string;
  /** New nodes are kept free of pods until someone has seen that they are ready. */
  readonly taintsNewNodes: boolean;
  /** Looks up another object, for example the priority class a pod names. */
  lookUp(collection: string, name: string): KubeObject | undefined;
  /** All objects of a collection in no order. */
  all(collection: string): Iterable<KubeObject>;
}

/** How objects of a kind are made ready and checked. Everything is pure; what is absent does nothing. */
export interface KindRules {
  /** Fills in what the manifest may leave out. Runs on create, on update, and on what a patch results in. */
  defaults?(object: Draft, context: WriteContext): Draft;
  /** Last changes to a new object: initial status, fields the server owns. */
  prepareCreate?(object: Draft, context: WriteContext): Draft;
  /** Last changes to a changed object: fields the server owns and does not let be changed. */
  prepareUpdate?(object: Draft, old: Draft, context: WriteContext): Draft;
  /** Every rule that is broken; with the old object also what may not be changed. */
  validate?(object: Draft, old?: Draft): FieldError[];
  /** A new object may bring its status with it, as a node does when it registers. */
  readonly keepsStatusOnCreate?: boolean;
  /** Keeps an object that is marked for deletion, besides finalizers: a namespace until it is empty. */
  heldBack?(object: Draft): boolean;
  /** How long a deletion waits for the object to end by itself, where the caller asked for `asked`; 0 when absent. */
  gracePeriodSeconds?(object: Draft, asked: number | undefined): number;
  /** Throws when objects like this one may not be deleted. */
  checkDelete?(object: Draft): void;
  /** Last changes to an object that is being marked for deletion. */
  prepareDelete?(object: Draft, context: WriteContext): Draft;
  /** The form a name must have; RFC 1123 subdomain when absent. */
  readonly name?: 'label' | 'subdomain' | 'service' | 'path';
  /** Another version of the same stored object; conversion is between this view and the stored form. */
  readonly conversion?: { fromStored(object: Draft): Draft; toStored(object: Draft): Draft };
}

/** A kind in one version. */
export interface Kind extends Required<Omit<Resource, '__object'>> {
  readonly apiVersion: string;
  readonly listKind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Where its objects are kept: `pods`, `deployments.apps`. */
  readonly collection: string;
  /** The API version in which they are kept. */
  readonly storedVersion: string;
  /** Not a custom resource: takes strategic merge patches, and updates without a resource version. */
  readonly builtIn: boolean;
  /** Requests of this kind are answered and forgotten: reviews, evictions. */
  readonly stored: boolean;
  readonly hasStatus: boolean;
  /** Whether metadata.generation counts the changes of what the user wants. */
  readonly hasGeneration: boolean;
  readonly scale?: ScaleSubresource;
  /** Other subresources with the kind of their objects: pods have `binding`, `eviction`, `log`. */
  readonly subresources: readonly Subresource[];
  readonly deprecationWarning?: string;
  /** The fields of its objects: what they are, how they merge, what they must keep to; undefined when nobody knows. */
  schema(): ObjectSchema | undefined;
  /** Whether the schema has defaults, which are filled in whenever an object is read. */
  readonly defaultsOnRead?: boolean;
  readonly columns: readonly ColumnDefinition[];
  cells(object: KubeObject, now: number): Cell[];
  /** Those besides metadata.name and metadata.namespace. */
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
