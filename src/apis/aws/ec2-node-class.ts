/** EC2NodeClass, karpenter.k8s.aws/v1: how the instances of a pool are launched on AWS. */
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { required, type Static } from '../schema/schema.ts';
import { AMI_FAMILIES, type AmiFamily, EC2_NODE_CLASS_SPEC, EC2_NODE_CLASS_STATUS } from './ec2-node-class-schema.ts';
import { AWS_GROUP } from './labels.ts';

export type Ec2NodeClassSpec = Static<typeof EC2_NODE_CLASS_SPEC>;
export type Ec2NodeClassStatus = Static<typeof EC2_NODE_CLASS_STATUS>;
export type KubeletSettings = NonNullable<Ec2NodeClassSpec['kubelet']>;
export type BlockDeviceMapping = NonNullable<Ec2NodeClassSpec['blockDeviceMappings']>[number];
export type AmiTerm = Ec2NodeClassSpec['amiSelectorTerms'][number];
export type ReservationTerm = NonNullable<Ec2NodeClassSpec['capacityReservationSelectorTerms']>[number];
export type ReservationStatus = NonNullable<Ec2NodeClassStatus['capacityReservations']>[number];
export type AmiStatus = NonNullable<Ec2NodeClassStatus['amis']>[number];
export type SubnetStatus = NonNullable<Ec2NodeClassStatus['subnets']>[number];

export interface Ec2NodeClass extends KubeObject {
  readonly spec: Ec2NodeClassSpec;
  readonly status?: Ec2NodeClassStatus;
}

export const EC2_NODE_CLASSES = resource<Ec2NodeClass>(`${AWS_GROUP}/v1`, 'EC2NodeClass', 'ec2nodeclasses', 'cluster');

/** Conditions of a node class: Ready is true when all others are. */
export const EC2_NODE_CLASS_CONDITIONS = {
  root: 'Ready',
  dependents: [
    'AMIsReady',
    'SubnetsReady',
    'SecurityGroupsReady',
    'InstanceProfileReady',
    'CapacityReservationsReady',
    'PlacementGroupReady',
    'ValidationSucceeded',
  ],
} as const;

export const EC2_NODE_CLASS_DEFINITION = customResourceDefinition(EC2_NODE_CLASSES, {
  description: 'How the instances of a pool are launched on AWS: image, subnets, security groups, role, volumes.',
  spec: required(EC2_NODE_CLASS_SPEC),
  status: EC2_NODE_CLASS_STATUS,
  shortNames: ['ec2nc', 'ec2ncs'],
  categories: ['karpenter'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Role', type: 'string', jsonPath: '.spec.role', priority: 1 },
  ],
});

/** An image family and the version of its image. */
export interface AmiAlias {
  readonly family: AmiFamily;
  readonly version: string;
}

/** The image alias of a node class, if it uses one. */
export function aliasOf({ amiSelectorTerms }: Ec2NodeClassSpec): AmiAlias | undefined {
  const alias = amiSelectorTerms.find((term) => term.alias !== undefined && term.alias !== '')?.alias;
  const [name, version] = alias?.split('@') ?? [];
  const family = AMI_FAMILIES.find((known) => known.toLowerCase() === name);
  return family === undefined || version === undefined ? undefined : { family, version };
}

/** The image family of a node class: its amiFamily, or the family of its alias. */
export function familyOf(spec: Ec2NodeClassSpec): AmiFamily {
  return spec.amiFamily ?? aliasOf(spec)?.family ?? 'Custom';
}
