/** Converts between a machine of the simulated cloud and the Node object it joins with. */
import { kubeletLabels } from '../../apis/kubernetes/kubelet-labels.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import { quantities } from '../../apis/kubernetes/resource-quantities.ts';
import { ANNOTATION_INSTANCE, ANNOTATION_KWOK, ANNOTATION_SIMULATED, TAG_CLAIM } from './labels.ts';
import { parseProviderID, type SimulatedInstance } from './simulated-instance.ts';

/** The node name of a machine: the name of its claim, if it has one. */
export function nodeNameOf({ id, tags }: SimulatedInstance): string {
  return tags[TAG_CLAIM] || id;
}

/** The Node object with which a machine joins. */
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

/** The machine that a node describes; undefined for a node of another cloud, or with an invalid annotation. */
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
