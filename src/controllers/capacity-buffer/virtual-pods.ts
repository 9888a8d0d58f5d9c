/** The pods that a CapacityBuffer has room for. They exist in plans only, and lose their place to any real pod. Pure. */
import { CAPACITY_BUFFERS, type CapacityBuffer } from '../../apis/autoscaling/capacity-buffer.ts';
import { apiVersionOf } from '../../apis/kubernetes/object.ts';
import type { Pod, PodSpec } from '../../apis/kubernetes/pod.ts';
import type { PodTemplateSpec } from '../../apis/kubernetes/workloads.ts';
import { ANNOTATION_VIRTUAL_POD, LOWEST_PRIORITY } from '../../state/virtual-pod.ts';

const ANNOTATION_BUFFER_NAME = 'karpenter.sh/capacity-buffer-name';
const ANNOTATION_BUFFER_NAMESPACE = 'karpenter.sh/capacity-buffer-namespace';

/** The virtual pod of that number, counted from 1. */
export function virtualPod({ metadata }: CapacityBuffer, template: PodTemplateSpec, number: number): Pod {
  const { name = '', namespace = '', uid = '', creationTimestamp } = metadata;
  const { apiVersion, kind } = { apiVersion: apiVersionOf(CAPACITY_BUFFERS), kind: CAPACITY_BUFFERS.kind };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `capacity-buffer-${name}-${number}`,
      namespace,
      uid: `${uid}-${number}`,
      labels: { ...template.metadata?.labels },
      annotations: {
        [ANNOTATION_VIRTUAL_POD]: 'true',
        [ANNOTATION_BUFFER_NAME]: name,
        [ANNOTATION_BUFFER_NAMESPACE]: namespace,
      },
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: placeholderSpec(template.spec),
    // So the scheduler speaks of a pod that it has no place for.
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
  };
}

/** Without what only a real pod has: a node, a scheduling gate, and volumes of its own, whose zone is not known before they exist. */
function placeholderSpec({ nodeName: _, schedulingGates: __, priorityClassName: ___, ...spec }: PodSpec): PodSpec {
  const volumes = (spec.volumes ?? []).filter(
    (volume) => volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined,
  );
  return { ...spec, volumes, priority: LOWEST_PRIORITY };
}
