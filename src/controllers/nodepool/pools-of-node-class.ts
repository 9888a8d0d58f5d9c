import type { KubeObject } from '../../apis/kubernetes/object.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import type { WorkQueue } from '../../kube/work-queue.ts';
import type { ClusterInformers } from '../../state/cluster-informers.ts';

/** Enqueues the pools of a node class whenever it changes. */
export function enqueuePoolsOfNodeClasses(informers: ClusterInformers, queue: WorkQueue): (() => void)[] {
  return [...informers.nodeClasses.values()].map((informer) =>
    enqueueOn(informer, queue, ({ kind, metadata }: KubeObject) =>
      informers.nodePools
        .list()
        .filter(({ spec: { template } }) => {
          const { nodeClassRef } = template.spec;
          return nodeClassRef.kind === kind && nodeClassRef.name === metadata.name;
        })
        .map((pool) => pool.metadata.name ?? ''),
    ),
  );
}

/** The node class of a pool; undefined if it is not watched. */
export function nodeClassOf(
  informers: ClusterInformers,
  { group, kind, name }: { readonly group: string; readonly kind: string; readonly name: string },
): KubeObject | undefined {
  return informers.nodeClasses.get(`${group}/${kind}`)?.get(name);
}
