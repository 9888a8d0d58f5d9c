/** Runs Cluster API on the embedded cluster, for trying it out: its kinds, a minimal core, and machines of the simulated cloud. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { coreKinds } from '../apis/cluster-api/core-kinds.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '../apis/schema/custom-resource-definition.ts';
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
  /** A folder of published definitions, used instead of ours, which accept any fields. */
  readonly definitions?: string | undefined;
}

/** Installs the kinds and starts the core; resolves to the cloud that scales MachineDeployments and launches AWSMachines. */
export async function startClusterApiCore(
  { client, clock, random, logger, simulated, account, definitions }: ClusterApiCoreOptions,
  signal: AbortSignal,
): Promise<{ readonly cloud: LoadedCloud; readonly work: Promise<void> }> {
  const kinds = coreKinds('v1beta2');
  await new ControllerWatch({ client, clock, logger, marks: REAL_CORE }).refuse('Machines', signal);
  const published = definitions === undefined ? [] : await publishedDefinitions(definitions);
  const known = new Set(published.map(({ metadata }) => metadata.name));
  const open = openDefinitions(kinds).filter(({ metadata }) => !known.has(metadata.name));
  for (const definition of [...published, ...open])
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition, { signal });
  const core = new MinimalCore({ client, kinds, clock, random, infrastructureVersion });
  const cloud = await loadClusterApi({
    unclaimedGraceMs: 300_000,
    instanceClouds: async () => [new SimulatedInstances(simulated, account)],
  });
  return { cloud, work: core.run(signal) };
}

/** The definitions in the YAML files of a folder, one or several in a file. */
async function publishedDefinitions(folder: string): Promise<readonly CustomResourceDefinition[]> {
  const files = (await readdir(folder)).filter((file) => /\.ya?ml$/.test(file)).sort();
  const documents = await Promise.all(
    files.map(async (file) => parseAllDocuments(await readFile(join(folder, file), 'utf8'))),
  );
  return documents
    .flat()
    .map((document) => document.toJS() as CustomResourceDefinition)
    .filter((object) => object?.kind === 'CustomResourceDefinition');
}
