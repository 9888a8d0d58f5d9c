/** All clouds that can be enabled by name. Each imports its SDK only when it is loaded. */
import { AWS_MODULE } from '../cloud/aws/aws-module.ts';
import { AZURE } from '../cloud/azure/module.ts';
import type { CloudModule } from '../cloud/cloud-module.ts';
import { CLUSTER_API } from '../cloud/cluster-api/module.ts';
import { GCP } from '../cloud/gcp/module.ts';
import { IBM_CLOUD } from '../cloud/ibm/ibm-module.ts';
import { SIMULATED } from '../cloud/simulated/module.ts';

export const CLOUD_MODULES: readonly CloudModule[] = [SIMULATED, AWS_MODULE, IBM_CLOUD, CLUSTER_API, GCP, AZURE];

/** The cloud that is enabled by default. */
export const DEFAULT_CLOUD = SIMULATED.name;
