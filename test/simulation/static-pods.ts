/** Pods that come with every node and that no DaemonSet makes, as a kubelet reads them from a directory. */
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { PODS, type ResourceList } from '../../src/apis/kubernetes/pod.ts';
import { aPod } from '../../src/embedded/testkit/objects.ts';
import type { KubeClient } from '../../src/kube/client.ts';

/** Puts a pod that asks for so much on each node that joins, until the signal aborts. */
export function putOnEachNode(client: KubeClient, requests: ResourceList, signal: AbortSignal): void {
  const seen = new Set<string>();
  const watch = async (): Promise<void> => {
    for await (const event of client.watch(NODES, {}, { signal })) {
      if (event.type === 'BOOKMARK' || seen.has(event.object.metadata.uid ?? '')) continue;
      const { name = '', uid = '' } = event.object.metadata;
      seen.add(uid);
      const pod = aPod(`static-${name}`, { requests, spec: { nodeName: name, tolerations: [{ operator: 'Exists' }] } });
      const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true }];
      // A node can have gone meanwhile, or another of its name have come.
      await client.create(PODS, { ...pod, metadata: { ...pod.metadata, ownerReferences } }).catch(() => {});
    }
  };
  void watch().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
