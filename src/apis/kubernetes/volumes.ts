/** Volumes, claims and storage classes, with the fields that scheduling needs. */
import { type KubeObject, resource } from './object.ts';
import type { NodeSelectorTerm, ResourceList, ResourceRequirements } from './pod.ts';

export interface PersistentVolume extends KubeObject {
  readonly spec: {
    readonly capacity?: ResourceList;
    readonly accessModes?: readonly string[];
    readonly storageClassName?: string;
    readonly persistentVolumeReclaimPolicy?: string;
    readonly claimRef?: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] } };
    readonly csi?: { readonly driver: string; readonly volumeHandle: string };
    readonly hostPath?: { readonly path: string };
  };
  readonly status?: { readonly phase?: string };
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: {
    readonly volumeName?: string;
    readonly storageClassName?: string;
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly resources?: ResourceRequirements;
  };
  readonly status?: {
    readonly phase?: string;
    readonly accessModes?: readonly string[];
    readonly capacity?: ResourceList;
  };
}

export interface TopologySelectorTerm {
  readonly matchLabelExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
}

export interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly volumeBindingMode?: 'Immediate' | 'WaitForFirstConsumer';
  readonly reclaimPolicy?: string;
  readonly allowedTopologies?: readonly TopologySelectorTerm[];
}

export const PERSISTENT_VOLUMES = resource<PersistentVolume>('v1', 'PersistentVolume', 'persistentvolumes', 'cluster');
export const PERSISTENT_VOLUME_CLAIMS = resource<PersistentVolumeClaim>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
  'namespaced',
);
export const STORAGE_CLASSES = resource<StorageClass>('storage.k8s.io/v1', 'StorageClass', 'storageclasses', 'cluster');

/** On a claim: the node of its first pod, so that the volume is provisioned where that node is. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
