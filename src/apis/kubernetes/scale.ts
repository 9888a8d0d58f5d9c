import type { KubeObject, Resource } from './object.ts';

/** The `scale` subresource of a workload. */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}

/** The same kind, read and written through its `scale` subresource: `client.get(scaleOf(DEPLOYMENTS), key, {subresource: 'scale'})`. */
export function scaleOf(kind: Resource): Resource<Scale> {
  return kind as Resource<Scale>;
}
