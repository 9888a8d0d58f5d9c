/** AzureNodeClass, karpenter.azure.com/v1alpha1: how VMs are launched for clusters other than AKS, with user data that joins them. */
import { conditions } from '../karpenter/condition-schema.ts';
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { integer, map, object, required, type Static, text } from '../schema/schema.ts';

export const AZURE_NODE_CLASS_SPEC = object('How VMs are launched.', {
  imageID: required(
    text('The resource ID of the image, or of a version in a gallery.', { minLength: 1, maxLength: 1024 }),
  ),
  vnetSubnetID: required(text('The resource ID of the subnet.', { minLength: 1, maxLength: 1024 })),
  osDiskSizeGB: integer('The size of the OS disk in GB; defaults to 128.', { minimum: 30, maximum: 2048 }),
  adminUsername: text('The user that can log in; defaults to azureuser.', { maxLength: 64 }),
  sshPublicKey: required(
    text('The public SSH key of that user, which Azure requires.', { minLength: 1, maxLength: 16384 }),
  ),
  userData: text('The script that VMs run at their first boot, to join the cluster.', { maxLength: 65536 }),
  tags: map('Additional tags of the VMs.', text('A value.', { maxLength: 256 }), { maxProperties: 40 }),
});

const STATUS = object('The state that the autoscaler observed.', { conditions: conditions('reason required') });

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

/** Conditions of a node class: Ready is true when the other is. */
export const AZURE_NODE_CLASS_CONDITIONS = { root: 'Ready', dependents: ['ValidationSucceeded'] } as const;

export const AZURE_NODE_CLASS_DEFINITION = customResourceDefinition(AZURE_NODE_CLASSES, {
  description: 'How the VMs of a pool are launched on Azure.',
  spec: required(AZURE_NODE_CLASS_SPEC),
  status: STATUS,
  shortNames: ['aznc', 'azncs'],
  categories: ['karpenter'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
