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
  serviceAccount: text('The e-mail address of the service account of instances; defaults to none.', {
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
    'The disks of an instance; only the one marked `boot` is used.',
    object('A disk.', {
      boot: boolean('Whether the instance starts from it.'),
      category: choice(
        'The type of the disk. Machine types that do not support it are not offered. Defaults to pd-balanced, or hyperdisk-balanced for families that support only Hyperdisk.',
        DISKS,
      ),
      sizeGiB: integer('Its size in GiB; defaults to 50.', { minimum: 10, maximum: 65536 }),
    }),
    { maxItems: 10 },
  ),
  networkConfig: object('The network of the instances.', {
    subnetwork: text('The subnetwork, as in `regions/R/subnetworks/S`; defaults to the default network.', {
      maxLength: 253,
    }),
    enablePrivateNodes: boolean('Whether instances have no external address; defaults to true.'),
  }),
  networkTags: list('Network tags, for firewall rules.', text('A tag.', { maxLength: 63 }), {
    maxItems: 20,
  }),
  labels: map('Additional labels of the instances.', text('A value.', { maxLength: 63 }), { maxProperties: 20 }),
  metadata: map('Additional metadata of the instances.', text('A value.')),
  startupScript: text('The script that instances run at every boot, to join the cluster.', { maxLength: 131072 }),
});

const STATUS = object('The state that the autoscaler observed.', { conditions: conditions('reason required') });

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

/** Conditions of a node class: Ready is true when the other is. */
export const GCE_NODE_CLASS_CONDITIONS = { root: 'Ready', dependents: ['ImagesReady'] } as const;

export const GCE_NODE_CLASS_DEFINITION = customResourceDefinition(GCE_NODE_CLASSES, {
  description: 'How the instances of a pool are launched on Compute Engine.',
  spec: required(GCE_NODE_CLASS_SPEC),
  status: STATUS,
  shortNames: ['gcenc', 'gcencs'],
  categories: ['karpenter'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
