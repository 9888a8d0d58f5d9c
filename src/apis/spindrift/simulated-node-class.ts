/** SimulatedNodeClass, spindrift.dev/v1alpha1: the simulated cloud that the nodes of a pool come from. */
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { defaulted, type Static } from '../schema/schema.ts';
import { SPINDRIFT_GROUP } from './group.ts';
import { SIMULATED_NODE_CLASS_SPEC, SIMULATED_NODE_CLASS_STATUS } from './simulated-node-class-schema.ts';

export type SimulatedNodeClassSpec = Static<typeof SIMULATED_NODE_CLASS_SPEC>;
export type SimulatedNodeClassStatus = Static<typeof SIMULATED_NODE_CLASS_STATUS>;

export interface SimulatedNodeClass extends KubeObject {
  readonly spec: SimulatedNodeClassSpec;
  readonly status?: SimulatedNodeClassStatus;
}

export const SIMULATED_NODE_CLASSES = resource<SimulatedNodeClass>(
  `${SPINDRIFT_GROUP}/v1alpha1`,
  'SimulatedNodeClass',
  'simulatednodeclasses',
  'cluster',
);

/** Conditions of a node class: Ready is true when all others are. */
export const SIMULATED_NODE_CLASS_CONDITIONS = {
  root: 'Ready',
  dependents: ['ValidationSucceeded', 'CatalogReady'],
} as const;

export const SIMULATED_NODE_CLASS_DEFINITION = customResourceDefinition(SIMULATED_NODE_CLASSES, {
  description: 'A simulated cloud: its offerings, zones, prices and faults.',
  spec: defaulted({}, SIMULATED_NODE_CLASS_SPEC),
  status: SIMULATED_NODE_CLASS_STATUS,
  shortNames: ['simnc', 'simncs'],
  categories: ['karpenter', 'spindrift'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Types', type: 'integer', jsonPath: '.status.instanceTypes', priority: 1 },
    { name: 'Zones', type: 'string', jsonPath: '.status.zones[*].name', priority: 1 },
  ],
});
