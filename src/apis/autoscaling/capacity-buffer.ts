/** CapacityBuffer, autoscaling.x-k8s.io/v1beta1: room that is kept free for pods that are still to come. */
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { required, type Static } from '../schema/schema.ts';
import { CAPACITY_BUFFER_SPEC, CAPACITY_BUFFER_STATUS } from './capacity-buffer-schema.ts';

export type CapacityBufferSpec = Static<typeof CAPACITY_BUFFER_SPEC>;
export type CapacityBufferStatus = Static<typeof CAPACITY_BUFFER_STATUS>;

export interface CapacityBuffer extends KubeObject {
  readonly spec: CapacityBufferSpec;
  readonly status?: CapacityBufferStatus;
}

export const CAPACITY_BUFFERS = resource<CapacityBuffer>(
  'autoscaling.x-k8s.io/v1beta1',
  'CapacityBuffer',
  'capacitybuffers',
  'namespaced',
);

/** Whether the pod of the buffer and the number of its replicas are known. */
export const READY_FOR_PROVISIONING = 'ReadyForProvisioning';
/** Whether there is room for all replicas on nodes that are up. */
export const PROVISIONING = 'Provisioning';

export const CAPACITY_BUFFER_DEFINITION = customResourceDefinition(CAPACITY_BUFFERS, {
  description:
    'Room that is kept free on nodes, so that pods that are still to come start without waiting for a machine.',
  spec: required(CAPACITY_BUFFER_SPEC),
  status: CAPACITY_BUFFER_STATUS,
  shortNames: ['cb'],
  categories: ['autoscaling'],
  columns: [
    { name: 'Strategy', type: 'string', jsonPath: '.spec.provisioningStrategy' },
    { name: 'PodTemplate', type: 'string', jsonPath: '.status.podTemplateRef.name' },
    { name: 'Replicas', type: 'integer', jsonPath: '.status.replicas' },
    { name: 'ConditionsType', type: 'string', jsonPath: '.status.conditions[*].type' },
    { name: 'ConditionsStatus', type: 'string', jsonPath: '.status.conditions[*].status' },
    { name: 'ConditionsReason', type: 'string', jsonPath: '.status.conditions[*].reason' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
