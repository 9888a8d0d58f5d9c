/** The columns of volumes, claims and related kinds. */
import type { KubeObject } from '../../../../apis/kubernetes/object.ts';
import type { ResourceList } from '../../../../apis/kubernetes/pod.ts';
import { DEFAULT_CLASS } from '../rules/stored-rules.ts';
import { AGE, type Column, column, countColumn, wideColumn } from './column.ts';

interface Volume extends KubeObject {
  readonly spec?: {
    readonly capacity?: ResourceList;
    readonly accessModes?: readonly string[];
    readonly persistentVolumeReclaimPolicy?: string;
    readonly claimRef?: { readonly namespace?: string; readonly name?: string };
    readonly storageClassName?: string;
    readonly volumeAttributesClassName?: string;
    readonly volumeMode?: string;
    readonly volumeName?: string;
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly capacity?: ResourceList;
    readonly accessModes?: readonly string[];
  };
}

const SHORT_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function modes(accessModes: readonly string[] | undefined): string {
  return (accessModes ?? []).map((mode) => SHORT_MODES[mode] ?? mode).join(',');
}

function phaseOf({ metadata, status }: Volume): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Pending') : 'Terminating';
}

const UNSET = '<unset>';

export const VOLUME_COLUMNS: readonly Column[] = [
  column<Volume>('Capacity', ({ spec }) => spec?.capacity?.storage ?? ''),
  column<Volume>('Access Modes', ({ spec }) => modes(spec?.accessModes)),
  column<Volume>('Reclaim Policy', ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? ''),
  column<Volume>('Status', phaseOf),
  column<Volume>('Claim', ({ spec }) =>
    spec?.claimRef === undefined ? '' : `${spec.claimRef.namespace}/${spec.claimRef.name}`,
  ),
  column<Volume>('StorageClass', ({ spec }) => spec?.storageClassName ?? ''),
  column<Volume>('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? UNSET),
  column<Volume>('Reason', ({ status }) => status?.reason ?? ''),
  AGE,
  wideColumn<Volume>('VolumeMode', ({ spec }) => spec?.volumeMode ?? UNSET),
];

export const CLAIM_COLUMNS: readonly Column[] = [
  column<Volume>('Status', phaseOf),
  column<Volume>('Volume', ({ spec }) => spec?.volumeName ?? ''),
  column<Volume>('Capacity', ({ spec, status }) => (spec?.volumeName ? (status?.capacity?.storage ?? '') : '')),
  column<Volume>('Access Modes', ({ spec, status }) => (spec?.volumeName ? modes(status?.accessModes) : '')),
  column<Volume>('StorageClass', ({ spec }) => spec?.storageClassName ?? ''),
  column<Volume>('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? UNSET),
  AGE,
  wideColumn<Volume>('VolumeMode', ({ spec }) => spec?.volumeMode ?? UNSET),
];

interface StorageClass extends KubeObject {
  readonly provisioner?: string;
  readonly reclaimPolicy?: string;
  readonly volumeBindingMode?: string;
  readonly allowVolumeExpansion?: boolean;
}

/** Replaces the Name column to mark the default class. */
export const STORAGE_CLASS_NAME = column(
  'Name',
  ({ metadata }) => `${metadata.name}${metadata.annotations?.[DEFAULT_CLASS] === 'true' ? ' (default)' : ''}`,
  { format: 'name' },
);

export const STORAGE_CLASS_COLUMNS: readonly Column[] = [
  column<StorageClass>('Provisioner', ({ provisioner }) => provisioner ?? ''),
  column<StorageClass>('ReclaimPolicy', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
  column<StorageClass>('VolumeBindingMode', ({ volumeBindingMode }) => volumeBindingMode ?? UNSET),
  column<StorageClass>('AllowVolumeExpansion', ({ allowVolumeExpansion }) => String(allowVolumeExpansion ?? false)),
  AGE,
];

export const CSI_NODE_COLUMNS: readonly Column[] = [
  countColumn<KubeObject & { readonly spec?: { readonly drivers?: readonly unknown[] } }>(
    'Drivers',
    ({ spec }) => spec?.drivers?.length,
  ),
  AGE,
];

interface Driver extends KubeObject {
  readonly spec?: {
    readonly attachRequired?: boolean;
    readonly podInfoOnMount?: boolean;
    readonly storageCapacity?: boolean;
    readonly requiresRepublish?: boolean;
    readonly tokenRequests?: readonly { readonly audience: string }[];
    readonly volumeLifecycleModes?: readonly string[];
  };
}

const BOOLEAN = { type: 'boolean' } as const;

export const CSI_DRIVER_COLUMNS: readonly Column[] = [
  column<Driver>('AttachRequired', ({ spec }) => spec?.attachRequired ?? true, BOOLEAN),
  column<Driver>('PodInfoOnMount', ({ spec }) => spec?.podInfoOnMount ?? false, BOOLEAN),
  column<Driver>('StorageCapacity', ({ spec }) => spec?.storageCapacity ?? false, BOOLEAN),
  column<Driver>(
    'TokenRequests',
    ({ spec }) => spec?.tokenRequests?.map(({ audience }) => audience).join(',') ?? UNSET,
  ),
  column<Driver>('RequiresRepublish', ({ spec }) => spec?.requiresRepublish ?? false, BOOLEAN),
  column<Driver>('Modes', ({ spec }) => spec?.volumeLifecycleModes?.join(',')),
  AGE,
];

interface Attachment extends KubeObject {
  readonly spec?: {
    readonly attacher?: string;
    readonly nodeName?: string;
    readonly source?: { readonly persistentVolumeName?: string };
  };
  readonly status?: { readonly attached?: boolean };
}

export const ATTACHMENT_COLUMNS: readonly Column[] = [
  column<Attachment>('Attacher', ({ spec }) => spec?.attacher ?? '', { format: 'name' }),
  column<Attachment>('PV', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
  column<Attachment>('Node', ({ spec }) => spec?.nodeName ?? ''),
  column<Attachment>('Attached', ({ status }) => status?.attached ?? false, BOOLEAN),
  AGE,
];
