import { EC2_NODE_CLASS_DEFINITION } from './aws/ec2-node-class.ts';
import { AZURE_NODE_CLASS_DEFINITION } from './azure/azure-node-class.ts';
import { CLUSTER_API_NODE_CLASS_DEFINITION } from './cluster-api/cluster-api-node-class.ts';
import { GCE_NODE_CLASS_DEFINITION } from './gcp/gce-node-class.ts';
import { IBM_NODE_CLASS_DEFINITION } from './ibm/ibm-node-class.ts';
import { NODE_CLAIM_DEFINITION } from './karpenter/node-claim.ts';
import { NODE_POOL_DEFINITION } from './karpenter/node-pool.ts';
import type { CustomResourceDefinition } from './schema/custom-resource-definition.ts';
import { SIMULATED_NODE_CLASS_DEFINITION } from './spindrift/simulated-node-class.ts';
import { SPOT_POLICY_DEFINITION } from './spindrift/spot-policy.ts';

/** The definitions of the kinds that are there whatever cloud is used. */
export const CORE_DEFINITIONS: readonly CustomResourceDefinition[] = [
  NODE_POOL_DEFINITION,
  NODE_CLAIM_DEFINITION,
  SPOT_POLICY_DEFINITION,
  IBM_NODE_CLASS_DEFINITION,
];

/** The definitions of all kinds that Spindrift may add to a cluster. */
export const DEFINITIONS: readonly CustomResourceDefinition[] = [
  ...CORE_DEFINITIONS,
  SIMULATED_NODE_CLASS_DEFINITION,
  CLUSTER_API_NODE_CLASS_DEFINITION,
  GCE_NODE_CLASS_DEFINITION,
  AZURE_NODE_CLASS_DEFINITION,
  EC2_NODE_CLASS_DEFINITION,
];
