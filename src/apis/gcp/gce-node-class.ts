/** GCENodeClass, karpenter.k8s.gcp/v1alpha1: how instances of Compute Engine are launched; the part of upstream's fields that self-hosted clusters need. */
import { conditions } from '../karpenter/condition-schema.ts';
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { boolean, choice, integer, list, map, object, required, type Static, text } from '../schema/schema.ts';

const DISKS = [
  'pd-standard',
  'pd-balanced',
  'pd-ssd',
  'pd-extreme',
  'hyperdisk-balanced',
  'hyperdisk-throughput',
  'hyperdisk-extreme',
] as const;

export const GCE_NODE_CLASS_SPEC = object('How instances are launched.', {
  serviceAccount: text('The e-mail address of the service account of the instances; none when it is not given.', {
    maxLength: 253,
  }),
  imageSelectorTerms: required(
    list(
      'The image of the instances.',
      object('An image.', {
        id: required(text('The image, as in `projects/P/global/images/I`.', { minLength: 1, maxLength: 160 })),
      }),
      { minItems: 1, maxItems: 30 },
    ),
  ),
  disks: list(
    'The disks of an instance; the one that is marked `boot` is used.',
    object('A disk.', {
      boot: boolean('Whether the instance starts from it.'),
      category: choice('The kind of disk; pd-balanced when it is not given.', DISKS),
      sizeGiB: integer('Its size; 50 when it is not given.', { minimum: 10, maximum: 65536 }),
    }),
    { maxItems: 10 },
  ),
  networkConfig: object('The network of the instances.', {
    subnetwork: text('The subnetwork, as in `regions/R/subnetworks/S`; the default network when it is not given.', {
      maxLength: 253,
    }),
    enablePrivateNodes: boolean('Whether instances have no external address; true when it is not given.'),
  }),
  networkTags: list('Network tags, which firewall rules speak of.', text('A tag.', { maxLength: 63 }), {
    maxItems: 20,
  }),
  labels: map('Further labels of the instances.', text('A value.', { maxLength: 63 }), { maxProperties: 20 }),
  metadata: map('Further metadata of the instances.', text('A value.')),
  startupScript: text('What instances run at every boot, to join the cluster.', { maxLength: 131072 }),
});

const STATUS = object('What the autoscaler found.', { conditions: conditions('reason required') });

export type GceNodeClassSpec = Static<typeof GCE_NODE_CLASS_SPEC>;

export interface GceNodeClass extends KubeObject {
  readonly spec: GceNodeClassSpec;
  readonly status?: Static<typeof STATUS>;
}

export const GCE_NODE_CLASSES = resource<GceNodeClass>(
  'karpenter.k8s.gcp/v1alpha1',
  'GCENodeClass',
  'gcenodeclasses',
  'cluster',
);

/** What is known of a node class: Ready is true when the other is. */
export const GCE_NODE_CLASS_CONDITIONS = { root: 'Ready', dependents: ['ImagesReady'] } as const;

export const GCE_NODE_CLASS_DEFINITION = customResourceDefinition(GCE_NODE_CLASSES, {
  description: 'How instances of Compute Engine are launched.',
  spec: required(GCE_NODE_CLASS_SPEC),
  status: STATUS,
  shortNames: ['gcenc', 'gcencs'],
  categories: ['karpenter'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
