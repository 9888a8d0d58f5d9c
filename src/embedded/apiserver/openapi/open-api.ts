import type { Schema } from '../schema/schema.ts';

/** A kind as OpenAPI needs it. */
export interface OpenApiKind {
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Without one the kind is shown as an object of unknown fields. */
  readonly schema?: Schema;
  /** Built-in kinds take strategic merge patches, custom resources do not. */
  readonly strategicMergePatch: boolean;
  /** `status`, `scale`. */
  readonly subresources: readonly string[];
}

/** The document of one group version: served at `/openapi/v3/api/v1`, `/openapi/v3/apis/apps/v1`. */
export declare function openApiDocument(
  groupVersion: { readonly group: string; readonly version: string },
  kinds: readonly OpenApiKind[],
): Record<string, unknown>;

/** The index at `/openapi/v3`: for each path (`api/v1`, `apis/apps/v1`) the URL with the hash of its document's bytes. */
export declare function openApiIndex(documents: ReadonlyMap<string, Uint8Array>): Record<string, unknown>;
