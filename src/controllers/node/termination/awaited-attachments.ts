import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { VolumeAttachment } from '../../../apis/kubernetes/volume-attachment.ts';
import type { StorageLookup } from '../../../state/pod-volumes.ts';
import { isDrainable } from './drainable-pod.ts';

/** The attachments that must go before the machine does: not those of pods that stay on the node to the end. */
export function awaitedAttachments(
  attachments: readonly VolumeAttachment[],
  pods: readonly Pod[],
  storage: Pick<StorageLookup, 'claim'>,
): VolumeAttachment[] {
  const staying = new Set(
    pods
      .filter((pod) => !isDrainable(pod))
      .flatMap(({ metadata, spec }) =>
        (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
          persistentVolumeClaim === undefined
            ? []
            : [storage.claim(metadata.namespace ?? '', persistentVolumeClaim.claimName)?.spec.volumeName],
        ),
      ),
  );
  return attachments.filter(({ spec }) => {
    const volume = spec.source.persistentVolumeName;
    return volume !== undefined && !staying.has(volume);
  });
}
