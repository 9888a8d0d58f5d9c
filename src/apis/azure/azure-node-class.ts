/** AzureNodeClass, karpenter.azure.com/v1alpha1: how VMs are launched for clusters that are not AKS, with user data that joins them. */
import { conditions } from '../karpenter/condition-schema.ts';
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { integer, map, object, required, type Static, text } from '../schema/schema.ts';

export const AZURE_NODE_CLASS_SPEC = object('How VMs are launched.', {
  imageID: required(
    text('The resource ID of the image, or of a version in a gallery.', { minLength: 1, maxLength: 1024 }),
  ),
  vnetSubnetID: required(text('The resource ID of the subnet.', { minLength: 1, maxLength: 1024 })),
  osDiskSizeGB: integer('The size of the disk; 128 when it is not given.', { minimum: 30, maximum: 2048 }),
  adminUsername: text('The user that may log in; azureuser when it is not given.', { maxLength: 64 }),
  sshPublicKey: required(
    text('The key with which that user logs in; Azure asks for one.', { minLength: 1, maxLength: 16384 }),
  ),
  userData: text('What VMs run when they first start, to join the cluster.', { maxLength: 65536 }),
  tags: map('Further tags of the VMs.', text('A value.', { maxLength: 256 }), { maxProperties: 40 }),
});

const STATUS = object('What the autoscaler found.', { conditions: conditions('reason required') });

export type AzureNodeClassSpec = Static<typeof AZURE_NODE_CLASS_SPEC>;

export interface AzureNodeClass extends KubeObject {
  readonly spec: AzureNodeClassSpec;
  readonly status?: Static<typeof STATUS>;
}

export const AZURE_NODE_CLASSES = resource<AzureNodeClass>(
  'karpenter.azure.com/v1alpha1',
  'AzureNodeClass',
  'azurenodeclasses',
  'cluster',
);

/** What is known of a node class: Ready is true when the other is. */
export const AZURE_NODE_CLASS_CONDITIONS = { root: 'Ready', dependents: ['ValidationSucceeded'] } as const;

export const AZURE_NODE_CLASS_DEFINITION = customResourceDefinition(AZURE_NODE_CLASSES, {
  description: 'How VMs of Azure are launched.',
  spec: required(AZURE_NODE_CLASS_SPEC),
  status: STATUS,
  shortNames: ['aznc', 'azncs'],
  categories: ['karpenter'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
