/** Makes the CustomResourceDefinition of a kind from its schema. */
import { type KubeObject, type Resource, resource } from '../kubernetes/object.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Schema } from './schema.ts';

/** A column of `kubectl get`; one with a priority above 0 is shown with `-o wide` only. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly priority?: number;
}

export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly scope: 'Namespaced' | 'Cluster';
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly storage: boolean;
      readonly additionalPrinterColumns: readonly PrinterColumn[];
      readonly subresources: { readonly status: object; readonly scale?: ScalePaths };
      readonly schema: { readonly openAPIV3Schema: JsonSchema };
    }[];
  };
}

interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
}

export const CUSTOM_RESOURCE_DEFINITIONS = resource<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  'cluster',
);

export interface KindDefinition {
  readonly description: string;
  readonly spec: Schema<unknown, 'required' | 'defaulted'>;
  readonly status: Schema<unknown>;
  readonly columns: readonly PrinterColumn[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scale?: ScalePaths;
}

/** The definition of a kind with one version, which has a status of its own. */
export function customResourceDefinition(kind: Resource, definition: KindDefinition): CustomResourceDefinition {
  const { shortNames, categories, columns, scale } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${kind.group}` },
    spec: {
      group: kind.group,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        ...(shortNames === undefined ? {} : { shortNames }),
        ...(categories === undefined ? {} : { categories }),
      },
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          additionalPrinterColumns: columns,
          subresources: { status: {}, ...(scale === undefined ? {} : { scale }) },
          schema: { openAPIV3Schema: objectSchema(definition) },
        },
      ],
    },
  };
}

function objectSchema({ description, spec, status }: KindDefinition): JsonSchema {
  return {
    description,
    type: 'object',
    properties: {
      apiVersion: { description: 'The version of the API that this object is written in.', type: 'string' },
      kind: { description: 'The kind of this object.', type: 'string' },
      metadata: { type: 'object' },
      spec: spec.json,
      status: status.json,
    },
    ...(spec.presence === 'required' ? { required: ['spec'] } : {}),
  };
}
