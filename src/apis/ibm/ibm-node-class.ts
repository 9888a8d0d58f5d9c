/** IBMNodeClass, karpenter-ibm.sh/v1alpha1: where and how machines are launched in IBM Cloud VPC. */
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { required, type Static } from '../schema/schema.ts';
import { IBM_NODE_CLASS_SPEC, IBM_NODE_CLASS_STATUS } from './ibm-node-class-schema.ts';
import { IBM_GROUP } from './labels.ts';

export type IBMNodeClassSpec = Static<typeof IBM_NODE_CLASS_SPEC>;
export type IBMNodeClassStatus = Static<typeof IBM_NODE_CLASS_STATUS>;

export interface IBMNodeClass extends KubeObject {
  readonly spec: IBMNodeClassSpec;
  readonly status?: IBMNodeClassStatus;
}

export const IBM_NODE_CLASSES = resource<IBMNodeClass>(
  `${IBM_GROUP}/v1alpha1`,
  'IBMNodeClass',
  'ibmnodeclasses',
  'cluster',
);

/** Conditions of a node class: Ready is true when all others are, except `SpotReady`. */
export const IBM_NODE_CLASS_CONDITIONS = {
  root: 'Ready',
  dependents: ['ValidationSucceeded', 'VPCReady', 'SubnetsReady', 'SecurityGroupsReady', 'ImageReady'],
} as const;

/** The condition that the class can launch spot machines; its message names the field that prevents it. */
export const IBM_CONDITION_SPOT = 'SpotReady';

export const IBM_NODE_CLASS_DEFINITION = customResourceDefinition(IBM_NODE_CLASSES, {
  description: 'Where and how machines are launched in IBM Cloud VPC.',
  spec: required(IBM_NODE_CLASS_SPEC),
  status: IBM_NODE_CLASS_STATUS,
  shortNames: ['ibmnc', 'ibmncs'],
  categories: ['karpenter'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Region', type: 'string', jsonPath: '.spec.region' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Spot', type: 'string', jsonPath: '.status.conditions[?(@.type=="SpotReady")].status', priority: 1 },
    { name: 'VPC', type: 'string', jsonPath: '.spec.vpc', priority: 1 },
    { name: 'Image', type: 'string', jsonPath: '.status.resolvedImageID', priority: 1 },
  ],
});
