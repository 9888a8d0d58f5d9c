/** CapacityBuffer, autoscaling.x-k8s.io/v1beta1: room reserved for future pods. */
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

/** The condition that the buffer's pod and number of replicas are resolved. */
export const READY_FOR_PROVISIONING = 'ReadyForProvisioning';
/** The condition that running nodes have room for all replicas. */
export const PROVISIONING = 'Provisioning';

export const CAPACITY_BUFFER_DEFINITION = customResourceDefinition(CAPACITY_BUFFERS, {
  description: 'Reserves room on nodes, so that future pods start without waiting for a launch.',
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
