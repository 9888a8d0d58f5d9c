/** The room that CapacityBuffers reserve, read from the annotations that the running autoscaler writes on them. */
import type { CapacityBuffer } from '../apis/autoscaling/capacity-buffer.ts';
import { keyOf, keyText } from '../apis/kubernetes/object.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { resolveBuffer } from '../controllers/capacity-buffer/resolve-buffer.ts';
import { virtualPod } from '../controllers/capacity-buffer/virtual-pods.ts';
import type { KubeClient } from '../kube/client.ts';
import type { OptionalInformer } from '../kube/optional-informer.ts';
import { Headroom } from '../state/headroom.ts';
import { readHeadroomNote } from '../state/headroom-note.ts';

/** Resolves the pods of each buffer, and places them on the nodes that the annotations name. */
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
