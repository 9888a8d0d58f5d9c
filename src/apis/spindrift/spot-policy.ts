/** SpotPolicy, spindrift.dev/v1alpha1: how the selected NodePools use spot capacity, and how they react to its loss. */
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { defaulted, type Static } from '../schema/schema.ts';
import { SPINDRIFT_GROUP } from './group.ts';
import {
  type FLAVOR_WEIGHT,
  type REBALANCE_ACTIONS,
  SPOT_POLICY_SPEC,
  SPOT_POLICY_STATUS,
} from './spot-policy-schema.ts';

export type SpotPolicySpec = Static<typeof SPOT_POLICY_SPEC>;
export type FlavorWeight = Static<typeof FLAVOR_WEIGHT>;
export type SpotPolicyStatus = Static<typeof SPOT_POLICY_STATUS>;
export type RebalanceAction = (typeof REBALANCE_ACTIONS)[number];

export interface SpotPolicy extends KubeObject {
  readonly spec: SpotPolicySpec;
  readonly status?: SpotPolicyStatus;
}

export const SPOT_POLICIES = resource<SpotPolicy>(
  `${SPINDRIFT_GROUP}/v1alpha1`,
  'SpotPolicy',
  'spotpolicies',
  'cluster',
);

/** Conditions of a policy: Ready is true when it is effective, that is when it applies to some NodePool. */
export const SPOT_POLICY_CONDITIONS = { root: 'Ready', dependents: ['Effective'] } as const;

/** The condition that other policies select some of its NodePools too; Ready does not depend on it. */
export const OVERLAPPING = 'Overlapping';

export const SPOT_POLICY_DEFINITION = customResourceDefinition(SPOT_POLICIES, {
  description:
    'How NodePools use spot capacity: its share, its spread over spot pools, the accepted risk, and the reaction when it is lost or returns.',
  spec: defaulted({}, SPOT_POLICY_SPEC),
  status: SPOT_POLICY_STATUS,
  shortNames: ['spotpol', 'spotpols'],
  categories: ['spindrift'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Priority', type: 'integer', jsonPath: '.spec.priority' },
    { name: 'Spot', type: 'integer', jsonPath: '.status.nodes.spot' },
    { name: 'OnDemand', type: 'integer', jsonPath: '.status.nodes.onDemand' },
    { name: 'Rebalance', type: 'string', jsonPath: '.spec.onRebalance' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'NodePools', type: 'string', jsonPath: '.status.nodePools[*]', priority: 1 },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Effective")].message', priority: 1 },
  ],
});
