import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { VolumeAttachment } from '../../../apis/kubernetes/volume-attachment.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import { stuckAt } from '../../../state/drain/drainable-pod.ts';
import { isDrainable } from '../../../state/is-drainable.ts';
import { claimName, type StorageLookup } from '../../../state/pod-volumes.ts';

/**
 * The volume attachments to wait for before the machine is terminated. Volumes of pods that are not drained, or that are stuck
 * terminating, are not waited for: they stay attached as long as their pod exists.
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
