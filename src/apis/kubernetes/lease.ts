import { type KubeObject, resource } from './object.ts';

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export const LEASES = resource<Lease>('coordination.k8s.io/v1', 'Lease', 'leases', 'namespaced');
