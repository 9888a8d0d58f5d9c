/** ClusterAPINodeClass, karpenter.cluster.x-k8s.io/v1alpha1: the MachineDeployments that the nodes of a pool come from. */
import { conditions } from '../karpenter/condition-schema.ts';
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { choice, integer, list, map, number, object, required, type Static, text } from '../schema/schema.ts';

const GROUP = 'karpenter.cluster.x-k8s.io';

const requirement = object('A condition on one label.', {
  key: required(text('The key of the label.', { minLength: 1, maxLength: 316 })),
  operator: required(choice('The operator.', ['In', 'NotIn', 'Exists', 'DoesNotExist'])),
  values: list('The values to compare with, for In and NotIn.', text('A value.', { maxLength: 63 }), { maxItems: 100 }),
});

export const CLUSTER_API_NODE_CLASS_SPEC = object('Selects the MachineDeployments that nodes come from.', {
  scalableResourceSelector: required(
    object('Selects MachineDeployments of the cluster by their labels; all conditions must hold.', {
      matchLabels: map('Labels that a MachineDeployment must have.', text('A value.', { maxLength: 63 }), {
        maxProperties: 100,
      }),
      matchExpressions: list('Further conditions.', requirement, { maxItems: 100 }),
    }),
  ),
});

const member = object('A MachineDeployment that was selected.', {
  name: required(text('Its namespace and name.')),
  instanceType: text('The instance type of its machines.'),
  zone: text('The zone of its machines.'),
  capacityType: choice('The capacity type of its machines.', ['spot', 'on-demand']),
  price: number('USD per hour of one machine.'),
  replicas: integer('Its wanted number of machines.'),
  problem: text('Why nothing is launched from it, and how to mend that.'),
});

export const CLUSTER_API_NODE_CLASS_STATUS = object('The state that the autoscaler observed.', {
  machineDeployments: list('The MachineDeployments that were selected, the first 200.', member, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    maxItems: 200,
  }),
  selected: integer('How many MachineDeployments were selected.'),
  usable: integer('How many of them can launch machines.'),
  conditions: conditions('reason required'),
});

export type ClusterApiNodeClassSpec = Static<typeof CLUSTER_API_NODE_CLASS_SPEC>;
export type ClusterApiNodeClassStatus = Static<typeof CLUSTER_API_NODE_CLASS_STATUS>;

export interface ClusterApiNodeClass extends KubeObject {
  readonly spec: ClusterApiNodeClassSpec;
  readonly status?: ClusterApiNodeClassStatus;
}

export const CLUSTER_API_NODE_CLASSES = resource<ClusterApiNodeClass>(
  `${GROUP}/v1alpha1`,
  'ClusterAPINodeClass',
  'clusterapinodeclasses',
  'cluster',
);

/** Conditions of a node class: Ready is true when all others are. */
export const CLUSTER_API_NODE_CLASS_CONDITIONS = {
  root: 'Ready',
  dependents: ['ManagementClusterReachable', 'MachineDeploymentsReady'],
} as const;

export const CLUSTER_API_NODE_CLASS_DEFINITION = customResourceDefinition(CLUSTER_API_NODE_CLASSES, {
  description: 'Selects the MachineDeployments of Cluster API that the nodes of a pool come from.',
  spec: required(CLUSTER_API_NODE_CLASS_SPEC),
  status: CLUSTER_API_NODE_CLASS_STATUS,
  shortNames: ['capinc', 'capincs'],
  categories: ['karpenter'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Usable', type: 'integer', jsonPath: '.status.usable' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
