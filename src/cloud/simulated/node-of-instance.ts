/** The Node object with which a machine of the simulated cloud joins the cluster, and back. */
import { kubeletLabels } from '../../apis/kubernetes/kubelet-labels.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import { quantities } from '../../apis/kubernetes/resource-quantities.ts';
import { ANNOTATION_INSTANCE, ANNOTATION_KWOK, ANNOTATION_SIMULATED, TAG_CLAIM } from './labels.ts';
import { parseProviderID, type SimulatedInstance } from './simulated-instance.ts';

/** What a machine calls its node: as its claim is called, where it has one. */
export function nodeNameOf({ id, tags }: SimulatedInstance): string {
  return tags[TAG_CLAIM] || id;
}

/** What a machine says of itself when it joins. */
export function nodeOf(instance: SimulatedInstance): Node {
  const name = nodeNameOf(instance);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: kubeletLabels(name, { ...instance.bootstrap.labels, ...instance.labels }),
      annotations: {
        [ANNOTATION_SIMULATED]: 'true',
        [ANNOTATION_KWOK]: 'fake',
        [ANNOTATION_INSTANCE]: JSON.stringify(instance),
      },
    },
    spec: { providerID: instance.providerID, taints: instance.bootstrap.taints },
    status: { capacity: quantities(instance.capacity), allocatable: quantities(instance.allocatable) },
  };
}

/** The machine that a node tells of; undefined for a node of another cloud, or whose words make no sense. */
export function instanceOfNode(node: Node): SimulatedInstance | undefined {
  const text = node.metadata.annotations?.[ANNOTATION_INSTANCE];
  const id = parseProviderID(node.spec?.providerID ?? '')?.id;
  if (text === undefined || id === undefined) return undefined;
  try {
    const instance = JSON.parse(text) as SimulatedInstance;
    return instance.id === id ? instance : undefined;
  } catch {
    return undefined;
  }
}
