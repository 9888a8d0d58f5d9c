import { type KubeObject, resource } from './object.ts';

/** The request to attach a volume to a node, and its state. */
export interface VolumeAttachment extends KubeObject {
  readonly spec: {
    readonly attacher: string;
    readonly nodeName: string;
    readonly source: { readonly persistentVolumeName?: string };
  };
  readonly status?: { readonly attached: boolean };
}

export const VOLUME_ATTACHMENTS = resource<VolumeAttachment>(
  'storage.k8s.io/v1',
  'VolumeAttachment',
  'volumeattachments',
  'cluster',
);
