/** NodeClaim, karpenter.sh/v1: one machine that was asked for, from the request until it is gone. */
import { type KubeObject, resource } from '../kubernetes/object.ts';
import type { ResourceList } from '../kubernetes/pod.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { map, object, quantity, required, type Schema, type Static, text, time } from '../schema/schema.ts';
import { conditions } from './condition-schema.ts';
import { KARPENTER_GROUP } from './labels.ts';
import { nodeClaimTemplateFields } from './node-claim-template-schema.ts';

export const NODE_CLAIM_SPEC = object(
  'What is asked for. It cannot be changed.',
  {
    ...nodeClaimTemplateFields('claim'),
    resources: object('What the pods that the node is made for need together.', {
      requests: map('Amounts by the name of the resource.', quantity()),
    }),
  },
  { rules: [{ rule: 'self == oldSelf', message: 'spec is immutable: delete the claim and make a new one' }] },
);

/** Amounts that only we write, so that they are always texts. */
function amounts(description: string): Schema<ResourceList> {
  return map(description, quantity()) as Schema<ResourceList>;
}

const STATUS = object('What has become of it.', {
  nodeName: text('The name of the node.'),
  providerID: text('The machine, as the cloud calls it.'),
  imageID: text('The image that the machine runs.'),
  capacity: amounts('What the machine has.'),
  allocatable: amounts('What the machine has for pods.'),
  conditions: conditions('reason optional'),
  lastPodEventTime: time('When a pod last came to the node, left it or finished on it.'),
});

export type NodeClaimSpec = Static<typeof NODE_CLAIM_SPEC>;
export type NodeClaimStatus = Static<typeof STATUS>;

export interface NodeClaim extends KubeObject {
  readonly spec: NodeClaimSpec;
  readonly status?: NodeClaimStatus;
}

export const NODE_CLAIMS = resource<NodeClaim>(`${KARPENTER_GROUP}/v1`, 'NodeClaim', 'nodeclaims', 'cluster');

/** What a claim goes through: Ready is true when all of it is. */
export const NODE_CLAIM_CONDITIONS = {
  root: 'Ready',
  dependents: ['Launched', 'Registered', 'Initialized'],
} as const;

/** Everything that may be known of a claim. */
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
  description: 'A machine that was asked for, from the request until it is gone.',
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
