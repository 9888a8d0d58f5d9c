/** Virtual pods of a CapacityBuffer. They exist only in plans, and any real pod takes their room. Pure. */
import { CAPACITY_BUFFERS, type CapacityBuffer } from '../../apis/autoscaling/capacity-buffer.ts';
import { apiVersionOf } from '../../apis/kubernetes/object.ts';
import type { Pod, PodSpec } from '../../apis/kubernetes/pod.ts';
import type { PodTemplateSpec } from '../../apis/kubernetes/workloads.ts';
import { ANNOTATION_VIRTUAL_POD, LOWEST_PRIORITY } from '../../state/virtual-pod.ts';

const ANNOTATION_BUFFER_NAME = 'karpenter.sh/capacity-buffer-name';
const ANNOTATION_BUFFER_NAMESPACE = 'karpenter.sh/capacity-buffer-namespace';

/** The virtual pod with that number, counted from 1. */
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
    // The status of a pod that the scheduler found unschedulable.
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
  };
}

/** Drops the fields that only a real pod has: node, scheduling gates, and its own volumes, whose zone is unknown before they exist. */
function placeholderSpec({ nodeName: _, schedulingGates: __, priorityClassName: ___, ...spec }: PodSpec): PodSpec {
  const volumes = (spec.volumes ?? []).filter(
    (volume) => volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined,
  );
  return { ...spec, volumes, priority: LOWEST_PRIORITY };
}
