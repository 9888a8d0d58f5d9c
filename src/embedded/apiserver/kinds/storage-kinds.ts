/** `storage.k8s.io/v1`: kept for the scheduler and for whoever looks; nothing here provisions a volume. */
import { builtIn } from './built-in.ts';
import type { Kind } from './kind.ts';

export const STORAGE_KINDS: readonly Kind[] = [
  builtIn('storage.k8s.io/v1', 'CSIDriver', 'csidrivers', 'cluster', {}),
  builtIn('storage.k8s.io/v1', 'CSINode', 'csinodes', 'cluster', {}),
  builtIn('storage.k8s.io/v1', 'CSIStorageCapacity', 'csistoragecapacities', 'namespaced', {}),
  builtIn('storage.k8s.io/v1', 'StorageClass', 'storageclasses', 'cluster', { shortNames: ['sc'] }),
  builtIn('storage.k8s.io/v1', 'VolumeAttachment', 'volumeattachments', 'cluster', { status: true }),
];
