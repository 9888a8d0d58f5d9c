/** All kinds, including those of every cloud, for generators and tests. Programs that enable only some clouds do not import this. */
import { EC2_NODE_CLASS_DEFINITION } from './aws/ec2-node-class.ts';
import { AZURE_NODE_CLASS_DEFINITION } from './azure/azure-node-class.ts';
import { CLUSTER_API_NODE_CLASS_DEFINITION } from './cluster-api/cluster-api-node-class.ts';
import { CORE_DEFINITIONS } from './core-definitions.ts';
import { GCE_NODE_CLASS_DEFINITION } from './gcp/gce-node-class.ts';
import { IBM_NODE_CLASS_DEFINITION } from './ibm/ibm-node-class.ts';
import type { CustomResourceDefinition } from './schema/custom-resource-definition.ts';
import { SIMULATED_NODE_CLASS_DEFINITION } from './spindrift/simulated-node-class.ts';

/** The definitions of all kinds that Spindrift can install. */
export const DEFINITIONS: readonly CustomResourceDefinition[] = [
  ...CORE_DEFINITIONS,
  SIMULATED_NODE_CLASS_DEFINITION,
  IBM_NODE_CLASS_DEFINITION,
  CLUSTER_API_NODE_CLASS_DEFINITION,
  GCE_NODE_CLASS_DEFINITION,
  AZURE_NODE_CLASS_DEFINITION,
  EC2_NODE_CLASS_DEFINITION,
];
