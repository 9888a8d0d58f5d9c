/** Virtual pods of the CapacityBuffers among manifests. */
import { CAPACITY_BUFFERS } from '../../apis/autoscaling/capacity-buffer.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { bufferSize } from '../../controllers/capacity-buffer/buffer-size.ts';
import { resolveBuffer } from '../../controllers/capacity-buffer/resolve-buffer.ts';
import { virtualPod } from '../../controllers/capacity-buffer/virtual-pods.ts';
import type { ImaginedCluster } from './imagined-cluster.ts';

/** Returns the pods to plan; notes how each buffer is planned, or why it cannot be. */
export async function bufferPods(cluster: ImaginedCluster, notes: string[]): Promise<Pod[]> {
  const pods: Pod[] = [];
  const { signal } = new AbortController();
  for (const buffer of await cluster.list(CAPACITY_BUFFERS)) {
    const name = `CapacityBuffer ${keyText(keyOf(buffer))}`;
    const resolved = await resolveBuffer(buffer, cluster, signal);
    if ('reason' in resolved) {
      notes.push(`${name} is not planned: ${resolved.message}`);
      continue;
    }
    const { template, scaled } = resolved;
    const size = bufferSize(buffer.spec, template.spec, scaled);
    notes.push(`${name} is planned as ${size} ${size === 1 ? 'pod' : 'pods'}`);
    for (let number = 1; number <= size; number++) pods.push(virtualPod(buffer, template, number));
  }
  return pods;
}
