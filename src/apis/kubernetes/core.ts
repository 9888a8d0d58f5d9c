/** The small core kinds. */
import { type KubeObject, resource } from './object.ts';

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface Secret extends KubeObject {
  readonly type?: string;
  /** Base64 of each value. */
  readonly data?: Readonly<Record<string, string>>;
  /** Write-only: the API server moves it to data. */
  readonly stringData?: Readonly<Record<string, string>>;
}

export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: 'Active' | 'Terminating' };
}

export const CONFIG_MAPS = resource<ConfigMap>('v1', 'ConfigMap', 'configmaps', 'namespaced');
export const SECRETS = resource<Secret>('v1', 'Secret', 'secrets', 'namespaced');
export const NAMESPACES = resource<Namespace>('v1', 'Namespace', 'namespaces', 'cluster');
