/** CustomResourceDefinition, apiextensions.k8s.io/v1. */
import type { Condition, KubeObject } from '../../../apis/kubernetes/object.ts';
import type { Schema } from '../schema/schema.ts';

export interface CustomResourceNames {
  readonly plural: string;
  readonly kind: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface CustomResourceColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

export interface ScaleSubresource {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: { readonly status?: object; readonly scale?: ScaleSubresource };
  readonly additionalPrinterColumns?: readonly CustomResourceColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: CustomResourceNames;
    readonly scope: 'Namespaced' | 'Cluster';
    readonly versions: readonly CustomResourceVersion[];
    readonly conversion?: { readonly strategy: string; readonly webhook?: unknown };
    readonly preserveUnknownFields?: boolean;
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly acceptedNames?: CustomResourceNames;
    readonly storedVersions?: readonly string[];
  };
}
