/** Static pods: pods on every node that no DaemonSet creates, as a kubelet reads them from a directory. */
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { PODS, type ResourceList } from '../../src/apis/kubernetes/pod.ts';
import { aPod } from '../../src/embedded/testkit/objects.ts';
import type { KubeClient } from '../../src/kube/client.ts';

/** Adds a pod with these requests to each node that joins, until the signal aborts. */
export function putOnEachNode(client: KubeClient, requests: ResourceList, signal: AbortSignal): void {
  const seen = new Set<string>();
  const watch = async (): Promise<void> => {
    for await (const event of client.watch(NODES, {}, { signal })) {
      if (event.type === 'BOOKMARK' || seen.has(event.object.metadata.uid ?? '')) continue;
      const { name = '', uid = '' } = event.object.metadata;
      seen.add(uid);
      const pod = aPod(`static-${name}`, { requests, spec: { nodeName: name, tolerations: [{ operator: 'Exists' }] } });
      const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true }];
      // The node may be gone already, or replaced by another of its name.
      await client.create(PODS, { ...pod, metadata: { ...pod.metadata, ownerReferences } }).catch(() => {});
    }
  };
  void watch().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
