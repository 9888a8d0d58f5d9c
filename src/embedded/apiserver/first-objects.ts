/** Objects that every cluster has from the start. */
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { Draft } from './kinds/kind.ts';
import type { World } from './world.ts';
import { createObject } from './writing.ts';

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
const PRIORITY_CLASSES = [
  ['system-cluster-critical', 2_000_000_000, 'Used for system critical pods that must run in the cluster.'],
  ['system-node-critical', 2_000_001_000, 'Used for system critical pods that must not be moved from their node.'],
] as const;

/** Creates namespaces and priority classes. */
export function createFirstObjects(world: World): void {
  const create = (group: string, plural: string, object: KubeObject): void => {
    createObject(world, world.kinds.get({ group, version: 'v1', plural }), {}, object as Draft, {
      fieldManager: 'kube-apiserver',
    });
  };
  for (const name of NAMESPACES) create('', 'namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const [name, value, description] of PRIORITY_CLASSES) {
    create('scheduling.k8s.io', 'priorityclasses', {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
      description,
    } as KubeObject);
  }
}
