/** NodePool, karpenter.sh/v1: which nodes can be launched for pods, how many, and when they can be disrupted. */
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { required, type Static } from '../schema/schema.ts';
import { KARPENTER_GROUP } from './labels.ts';
import {
  type CONSOLIDATION_POLICIES,
  type DISRUPTION_REASONS,
  NODE_POOL_SPEC,
  NODE_POOL_STATUS,
} from './node-pool-schema.ts';

export type NodePoolSpec = Static<typeof NODE_POOL_SPEC>;
export type NodePoolStatus = Static<typeof NODE_POOL_STATUS>;
export type NodeClaimTemplate = NodePoolSpec['template'];
export type DisruptionBudget = NodePoolSpec['disruption']['budgets'][number];
export type DisruptionReason = (typeof DISRUPTION_REASONS)[number];
export type ConsolidationPolicy = (typeof CONSOLIDATION_POLICIES)[number];

export interface NodePool extends KubeObject {
  readonly spec: NodePoolSpec;
  readonly status?: NodePoolStatus;
}

export const NODE_POOLS = resource<NodePool>(`${KARPENTER_GROUP}/v1`, 'NodePool', 'nodepools', 'cluster');

/** Conditions of a pool: Ready is true when all others are. */
export const NODE_POOL_CONDITIONS = { root: 'Ready', dependents: ['ValidationSucceeded', 'NodeClassReady'] } as const;

/** The condition that recent nodes of a pool registered; Ready does not depend on it. */
export const NODE_REGISTRATION_HEALTHY = 'NodeRegistrationHealthy';

export const NODE_POOL_DEFINITION = customResourceDefinition(NODE_POOLS, {
  description: 'Which nodes can be launched for unschedulable pods, how many, and when they can be disrupted.',
  spec: required(NODE_POOL_SPEC),
  status: NODE_POOL_STATUS,
  categories: ['karpenter'],
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.nodes' },
  columns: [
    { name: 'NodeClass', type: 'string', jsonPath: '.spec.template.spec.nodeClassRef.name' },
    { name: 'Nodes', type: 'string', jsonPath: '.status.nodes' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Weight', type: 'integer', jsonPath: '.spec.weight', priority: 1 },
    { name: 'CPU', type: 'string', jsonPath: '.status.resources.cpu', priority: 1 },
    { name: 'Memory', type: 'string', jsonPath: '.status.resources.memory', priority: 1 },
  ],
});
