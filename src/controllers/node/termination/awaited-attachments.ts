import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { VolumeAttachment } from '../../../apis/kubernetes/volume-attachment.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import { stuckAt } from '../../../state/drain/drainable-pod.ts';
import { isDrainable } from '../../../state/is-drainable.ts';
import { claimName, type StorageLookup } from '../../../state/pod-volumes.ts';

/**
 * The attachments that must go before the machine does: not those of pods that stay on the node to the end, by their own
 * wish or because nobody ends them. A volume is not detached while its pod is there.
 */
export function awaitedAttachments(
  attachments: readonly VolumeAttachment[],
  pods: readonly Pod[],
  storage: Pick<StorageLookup, 'claim'>,
  now: EpochMs,
): VolumeAttachment[] {
  const staying = new Set(
    pods
      .filter((pod) => !isDrainable(pod) || now > stuckAt(pod))
      .flatMap((pod) =>
        (pod.spec.volumes ?? []).flatMap((volume) => {
          const name = claimName(pod, volume);
          return name === undefined ? [] : [storage.claim(pod.metadata.namespace ?? '', name)?.spec.volumeName];
        }),
      ),
  );
  return attachments.filter(({ spec }) => {
    const volume = spec.source.persistentVolumeName;
    return volume !== undefined && !staying.has(volume);
  });
}
