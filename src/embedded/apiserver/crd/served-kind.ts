import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import type { ObjectSchema } from '../schema/object-schema.ts';
import type { CustomResourceDefinition, ScaleSubresource } from './custom-resource-definition.ts';

/** A column of `kubectl get`, as in meta.k8s.io/v1 Table. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export type Cell = string | number | boolean | null | object;

/** One version of a custom resource, with everything the API server needs to serve it. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** Objects are kept in this version. */
  readonly storage: boolean;
  readonly deprecationWarning?: string;
  readonly schema: ObjectSchema;
  readonly columns: readonly ColumnDefinition[];
  /** The cells of one row. `now` is needed for columns of type date, shown as an age. */
  cells(object: KubeObject, now: number): Cell[];
  readonly hasStatus: boolean;
  readonly scale?: ScaleSubresource;
  /** The value of each selectable field besides metadata.name and metadata.namespace, by its path without the leading dot. */
  selectableFields(object: KubeObject): Readonly<Record<string, string>>;
  readonly selectableFieldNames: readonly string[];
}

/** The versions of a definition that are served, in the order of preference of discovery (v2 before v1 before v1beta1). */
export declare function servedKinds(definition: CustomResourceDefinition): ServedKind[];
