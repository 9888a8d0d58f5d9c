/** Cluster API on the embedded cluster, for trying it out: its kinds, the minimal core, and machines of the simulated cloud. */
import { coreKinds } from '../apis/cluster-api/core-kinds.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../apis/schema/custom-resource-definition.ts';
import type { LoadedCloud } from '../cloud/cloud-module.ts';
import { MinimalCore } from '../cloud/cluster-api/core/minimal-core.ts';
import { infrastructureVersion, openDefinitions } from '../cloud/cluster-api/core/open-definitions.ts';
import { loadClusterApi } from '../cloud/cluster-api/module.ts';
import { ControllerWatch } from '../cloud/cluster-api/provider/controller-watch.ts';
import { REAL_CORE } from '../cloud/cluster-api/provider/provided-kinds.ts';
import { SimulatedInstances } from '../cloud/cluster-api/provider/simulated/simulated-instances.ts';
import type { SimulatedCloud } from '../cloud/simulated/simulated-cloud.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';

export interface ClusterApiCoreOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly simulated: SimulatedCloud;
  /** The account of the simulated cloud that machines are launched in. */
  readonly account: string;
}

/** Installs the kinds and begins to run the core; resolves to the cloud that scales MachineDeployments and makes AWSMachines real. */
export async function startClusterApiCore(
  { client, clock, random, logger, simulated, account }: ClusterApiCoreOptions,
  signal: AbortSignal,
): Promise<{ readonly cloud: LoadedCloud; readonly work: Promise<void> }> {
  const kinds = coreKinds('v1beta2');
  await new ControllerWatch({ client, clock, logger, marks: REAL_CORE }).refuse('Machines', signal);
  for (const definition of openDefinitions(kinds))
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition, { signal });
  const core = new MinimalCore({ client, kinds, clock, random, infrastructureVersion });
  const cloud = await loadClusterApi({
    unclaimedGraceMs: 300_000,
    instanceClouds: async () => [new SimulatedInstances(simulated, account)],
  });
  return { cloud, work: core.run(signal) };
}
