/** NodeClaim, karpenter.sh/v1: the request for one machine, and its state until it is deleted. */
import { type KubeObject, resource } from '../kubernetes/object.ts';
import type { ResourceList } from '../kubernetes/pod.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { map, object, quantity, required, type Schema, type Static, text, time } from '../schema/schema.ts';
import { conditions } from './condition-schema.ts';
import { KARPENTER_GROUP } from './labels.ts';
import { nodeClaimTemplateFields } from './node-claim-template-schema.ts';

export const NODE_CLAIM_SPEC = object(
  'The wanted machine. Immutable.',
  {
    ...nodeClaimTemplateFields('claim'),
    resources: object('The resources that the pods of the node need.', {
      requests: map('Amounts by the name of the resource.', quantity()),
    }),
  },
  { rules: [{ rule: 'self == oldSelf', message: 'spec is immutable: delete the claim and make a new one' }] },
);

/** Quantities that only Spindrift writes, so that they are always strings. */
function amounts(description: string): Schema<ResourceList> {
  return map(description, quantity()) as Schema<ResourceList>;
}

const STATUS = object('The state of the machine and its node.', {
  nodeName: text('The name of the node.'),
  providerID: text('The provider ID of the machine.'),
  imageID: text('The image that the machine runs.'),
  capacity: amounts('The resources of the machine.'),
  allocatable: amounts('The resources of the machine that pods can use.'),
  conditions: conditions('reason optional'),
  lastPodEventTime: time('When a pod was last bound to the node, removed from it, or finished on it.'),
});

export type NodeClaimSpec = Static<typeof NODE_CLAIM_SPEC>;
export type NodeClaimStatus = Static<typeof STATUS>;

export interface NodeClaim extends KubeObject {
  readonly spec: NodeClaimSpec;
  readonly status?: NodeClaimStatus;
}

export const NODE_CLAIMS = resource<NodeClaim>(`${KARPENTER_GROUP}/v1`, 'NodeClaim', 'nodeclaims', 'cluster');

/** Conditions of a claim's life: Ready is true when all of them are. */
export const NODE_CLAIM_CONDITIONS = {
  root: 'Ready',
  dependents: ['Launched', 'Registered', 'Initialized'],
} as const;

/** All conditions of a claim. */
export type NodeClaimCondition =
  | 'Ready'
  | (typeof NODE_CLAIM_CONDITIONS.dependents)[number]
  | 'Consolidatable'
  | 'Drifted'
  | 'Drained'
  | 'VolumesDetached'
  | 'InstanceTerminating'
  | 'ConsistentStateFound'
  | 'DisruptionReason'
  | 'Rebooting';

export const NODE_CLAIM_DEFINITION = customResourceDefinition(NODE_CLAIMS, {
  description: 'The request for one machine, and its state until it is deleted.',
  spec: required(NODE_CLAIM_SPEC),
  status: STATUS,
  categories: ['karpenter'],
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.metadata.labels.node\\.kubernetes\\.io/instance-type' },
    { name: 'Capacity', type: 'string', jsonPath: '.metadata.labels.karpenter\\.sh/capacity-type' },
    { name: 'Zone', type: 'string', jsonPath: '.metadata.labels.topology\\.kubernetes\\.io/zone' },
    { name: 'Node', type: 'string', jsonPath: '.status.nodeName' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'ImageID', type: 'string', jsonPath: '.status.imageID', priority: 1 },
    { name: 'ID', type: 'string', jsonPath: '.status.providerID', priority: 1 },
    { name: 'NodePool', type: 'string', jsonPath: '.metadata.labels.karpenter\\.sh/nodepool', priority: 1 },
    { name: 'NodeClass', type: 'string', jsonPath: '.spec.nodeClassRef.name', priority: 1 },
    { name: 'Drifted', type: 'string', jsonPath: '.status.conditions[?(@.type=="Drifted")].status', priority: 1 },
  ],
});
