/** `storage.k8s.io/v1`: stored for the scheduler and other clients; nothing here provisions a volume. */

import { builtIn } from './built-in.ts';
import { CREATED_AT } from './columns/core-columns.ts';
import {
  ATTACHMENT_COLUMNS,
  CSI_DRIVER_COLUMNS,
  CSI_NODE_COLUMNS,
  STORAGE_CLASS_COLUMNS,
  STORAGE_CLASS_NAME,
} from './columns/storage-columns.ts';
import type { Kind } from './kind.ts';
import { storageClassRules } from './rules/stored-rules.ts';

export const STORAGE_KINDS: readonly Kind[] = [
  builtIn('storage.k8s.io/v1', 'CSIDriver', 'csidrivers', 'cluster', { columns: CSI_DRIVER_COLUMNS }),
  builtIn('storage.k8s.io/v1', 'CSINode', 'csinodes', 'cluster', { columns: CSI_NODE_COLUMNS }),
  builtIn('storage.k8s.io/v1', 'CSIStorageCapacity', 'csistoragecapacities', 'namespaced', { columns: CREATED_AT }),
  builtIn('storage.k8s.io/v1', 'StorageClass', 'storageclasses', 'cluster', {
    shortNames: ['sc'],
    columns: [STORAGE_CLASS_NAME, ...STORAGE_CLASS_COLUMNS],
    rules: storageClassRules,
  }),
  builtIn('storage.k8s.io/v1', 'VolumeAttachment', 'volumeattachments', 'cluster', {
    columns: ATTACHMENT_COLUMNS,
    status: true,
  }),
];
