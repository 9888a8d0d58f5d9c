/**
 * The schema of an object: `openAPIV3Schema` of a CustomResourceDefinition, and the same form for built-in kinds.
 * Pruning, defaulting, validation, patches, server-side apply and OpenAPI all use it.
 */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** One rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

export interface Schema {
  readonly type?: SchemaType;
  readonly description?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: Json;
  readonly example?: Json;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly externalDocs?: { readonly url?: string; readonly description?: string };
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
  /** Strategic merge patch; built-in kinds only. */
  readonly 'x-kubernetes-patch-merge-key'?: string;
  /** Strategic merge patch, `merge`, `retainKeys`, `replace` or `merge,retainKeys`; built-in kinds only. */
  readonly 'x-kubernetes-patch-strategy'?: string;
  /** The OpenAPI name of the type, `io.k8s.api.core.v1.PodSpec`; built-in kinds only, whose schemas may be cyclic. */
  readonly typeName?: string;
}
