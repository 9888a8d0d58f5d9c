/** The room that CapacityBuffers keep, as the running autoscaler has noted it on them. */
import type { CapacityBuffer } from '../apis/autoscaling/capacity-buffer.ts';
import { keyOf, keyText } from '../apis/kubernetes/object.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { resolveBuffer } from '../controllers/capacity-buffer/resolve-buffer.ts';
import { virtualPod } from '../controllers/capacity-buffer/virtual-pods.ts';
import type { KubeClient } from '../kube/client.ts';
import type { OptionalInformer } from '../kube/optional-informer.ts';
import { Headroom } from '../state/headroom.ts';
import { readHeadroomNote } from '../state/headroom-note.ts';

/** Reads the pods of the buffers, and puts them where the notes say. */
export async function notedHeadroom(
  buffers: Pick<OptionalInformer<CapacityBuffer>, 'presence' | 'list'>,
  client: Pick<KubeClient, 'get'>,
  signal: AbortSignal,
): Promise<Headroom> {
  const headroom = new Headroom(buffers);
  const placed = new Map<string, readonly Pod[]>();
  for (const buffer of buffers.list()) {
    const resolved = await resolveBuffer(buffer, client, signal);
    if ('reason' in resolved) continue;
    const pods: Pod[] = [];
    for (const { place, pods: count } of readHeadroomNote(buffer)) {
      const here = Array.from({ length: count }, (_, index) =>
        virtualPod(buffer, resolved.template, pods.length + index + 1),
      );
      placed.set(place, [...(placed.get(place) ?? []), ...here]);
      pods.push(...here);
    }
    headroom.set(keyText(keyOf(buffer)), pods);
  }
  headroom.place(headroom.pods(), { placed, unplaced: new Map() });
  return headroom;
}
