import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import { ObjectSchema } from '../schema/object-schema.ts';
import type { Json, Schema } from '../schema/schema.ts';
import type {
  CustomResourceDefinition,
  CustomResourceVersion,
  ScaleSubresource,
} from './custom-resource-definition.ts';
import { firstAt } from './json-path.ts';
import { printerColumns } from './printer-columns.ts';
import { byVersionPriority } from './version-priority.ts';

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
  /** Objects are stored in this version. */
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

const ANYTHING: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** The served versions of a definition, in discovery's order of preference (v2 before v1 before v1beta1). */
export function servedKinds(definition: CustomResourceDefinition): ServedKind[] {
  return definition.spec.versions
    .filter((version) => version.served)
    .sort((a, b) => byVersionPriority(a.name, b.name))
    .map((version) => servedKind(definition, version));
}

function servedKind(definition: CustomResourceDefinition, version: CustomResourceVersion): ServedKind {
  const { group, scope, preserveUnknownFields } = definition.spec;
  const names = definition.status?.acceptedNames ?? definition.spec.names;
  const {
    kind,
    plural,
    singular = kind.toLowerCase(),
    listKind = `${kind}List`,
    shortNames = [],
    categories = [],
  } = names;
  const written = version.schema?.openAPIV3Schema ?? ANYTHING;
  const schema = preserveUnknownFields === true ? { ...written, ...ANYTHING } : written;
  const columns = printerColumns(version.additionalPrinterColumns);
  const fieldNames = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, ''));
  const { scale, status } = version.subresources ?? {};
  const warning = `${group}/${version.name} ${kind} is deprecated`;
  return {
    group,
    version: version.name,
    kind,
    listKind,
    plural,
    singular,
    shortNames,
    categories,
    namespaced: scope === 'Namespaced',
    storage: version.storage,
    ...(version.deprecated === true ? { deprecationWarning: version.deprecationWarning ?? warning } : {}),
    schema: new ObjectSchema(schema),
    columns: columns.definitions,
    cells: columns.cells,
    hasStatus: status !== undefined,
    ...(scale === undefined ? {} : { scale }),
    selectableFieldNames: fieldNames,
    selectableFields: (object) => selectableValues(object, fieldNames),
  };
}

/** A selectable field that is not set has an empty value. */
function selectableValues(object: KubeObject, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, String(firstAt(object as unknown as Json, `.${name}`) ?? '')]));
}
