/** The small core kinds. */
import { type KubeObject, resource } from './object.ts';

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: 'Active' | 'Terminating' };
}

export const CONFIG_MAPS = resource<ConfigMap>('v1', 'ConfigMap', 'configmaps', 'namespaced');
export const NAMESPACES = resource<Namespace>('v1', 'Namespace', 'namespaces', 'cluster');
