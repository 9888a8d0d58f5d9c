import type { KubeObject } from './object.ts';

/** What the `scale` subresource of a workload reads and writes. */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}
