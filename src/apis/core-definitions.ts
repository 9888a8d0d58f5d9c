import { CAPACITY_BUFFER_DEFINITION } from './autoscaling/capacity-buffer.ts';
import { NODE_CLAIM_DEFINITION } from './karpenter/node-claim.ts';
import { NODE_OVERLAY_DEFINITION } from './karpenter/node-overlay.ts';
import { NODE_POOL_DEFINITION } from './karpenter/node-pool.ts';
import type { CustomResourceDefinition } from './schema/custom-resource-definition.ts';
import { SPOT_POLICY_DEFINITION } from './spindrift/spot-policy.ts';

/** The definitions of the kinds that every cloud needs. */
export const CORE_DEFINITIONS: readonly CustomResourceDefinition[] = [
  NODE_POOL_DEFINITION,
  NODE_CLAIM_DEFINITION,
  NODE_OVERLAY_DEFINITION,
  SPOT_POLICY_DEFINITION,
  CAPACITY_BUFFER_DEFINITION,
];
