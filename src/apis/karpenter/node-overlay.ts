/** NodeOverlay, karpenter.sh/v1alpha1: prices and resources that the cloud does not report. */
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { required, type Static } from '../schema/schema.ts';
import { KARPENTER_GROUP } from './labels.ts';
import { NODE_OVERLAY_SPEC, NODE_OVERLAY_STATUS } from './node-overlay-schema.ts';

export type NodeOverlaySpec = Static<typeof NODE_OVERLAY_SPEC>;

export interface NodeOverlay extends KubeObject {
  readonly spec: NodeOverlaySpec;
  readonly status?: Static<typeof NODE_OVERLAY_STATUS>;
}

export const NODE_OVERLAYS = resource<NodeOverlay>(
  `${KARPENTER_GROUP}/v1alpha1`,
  'NodeOverlay',
  'nodeoverlays',
  'cluster',
);

/** Conditions of an overlay: Ready is true when it is valid and does not conflict with another. */
export const NODE_OVERLAY_CONDITIONS = { root: 'Ready', dependents: ['ValidationSucceeded'] } as const;

export const NODE_OVERLAY_DEFINITION = customResourceDefinition(NODE_OVERLAYS, {
  description: 'Prices and resources that the cloud does not report: discounts, commitments, devices.',
  spec: required(NODE_OVERLAY_SPEC),
  status: NODE_OVERLAY_STATUS,
  shortNames: ['overlays'],
  categories: ['karpenter'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Weight', type: 'integer', jsonPath: '.spec.weight', priority: 1 },
  ],
});
