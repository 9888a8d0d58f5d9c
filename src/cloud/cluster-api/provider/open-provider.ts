/** Spindrift as the infrastructure provider of some kinds, put together; it refuses where their own provider runs. */
import type { ClusterApiCluster } from '../../../apis/cluster-api/core-kinds.ts';
import { INFRASTRUCTURE_GROUP } from '../../../apis/cluster-api/names.ts';
import type { Resource } from '../../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import { Informer } from '../../../kube/informer.ts';
import type { Clock } from '../../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Random } from '../../../platform/random.ts';
import type { CloudController } from '../../cloud.ts';
import type { InfrastructureObject, InfrastructureObjects } from '../infrastructure-objects.ts';
import type { FindShape } from '../known-shapes.ts';
import type { ManagementCluster } from '../management-cluster.ts';
import { ControllerWatch } from './controller-watch.ts';
import { infrastructureClusterController } from './infrastructure-cluster-controller.ts';
import { InfrastructureMachineController } from './infrastructure-machine-controller.ts';
import type { InstanceCloud } from './instance-cloud.ts';
import { machineTemplateController } from './machine-template-controller.ts';

export interface ProviderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Writes events into the management cluster. */
  readonly recorder: EventRecorder;
  readonly management: ManagementCluster;
  readonly infrastructure: InfrastructureObjects;
  readonly findShape: FindShape;
  readonly clouds: readonly InstanceCloud[];
}

/** The controllers of all clouds; rejects with CLOUD_NOT_CONFIGURED where one of their kinds is another's or is not installed. */
export async function openProvider(options: ProviderOptions, signal: AbortSignal): Promise<readonly CloudController[]> {
  const { client, clock, random, management } = options;
  const { namespace, kinds } = management.options;
  const clusters = new Informer({
    ...{ client, clock, random, kind: kinds.clusters },
    selection: namespace === undefined ? {} : { namespace },
  });
  const perCloud = await Promise.all(options.clouds.map((cloud) => controllersOf(cloud, clusters, options, signal)));
  if (perCloud.length === 0) return [];
  return [{ name: 'cluster-api.provider.clusters', run: (stop) => clusters.run(stop) }, ...perCloud.flat()];
}

async function controllersOf(
  cloud: InstanceCloud,
  clusters: Informer<ClusterApiCluster>,
  options: ProviderOptions,
  signal: AbortSignal,
): Promise<readonly CloudController[]> {
  const { client, clock, random, logger, recorder, management, infrastructure, findShape } = options;
  const { machine, cluster, controller: marks } = cloud.kinds;
  const watch = new ControllerWatch({ client, clock, logger, marks });
  await watch.refuse(`${machine}s`, signal);
  const [machines, templates, infrastructureClusters] = await Promise.all(
    [machine, `${machine}Template`, cluster].map((kind) => servedKind(kind, client, infrastructure, signal)),
  );
  if (machines === undefined || templates === undefined || infrastructureClusters === undefined) return [];
  const { namespace } = management.options;
  const shared = { client, clock, random, logger, recorder, ...(namespace !== undefined && { namespace }) };
  return [
    { name: `cluster-api.provider.${cloud.kinds.provider}.other-controllers`, run: (stop) => watch.run(stop) },
    new InfrastructureMachineController({
      ...shared,
      ...{ management, infrastructure, cloud, watch, clusters, kind: machines },
    }),
    machineTemplateController({ ...shared, kind: templates, findShape, watch }),
    infrastructureClusterController({ ...shared, kind: infrastructureClusters, cloud }),
  ];
}

async function servedKind(
  kind: string,
  client: KubeClient,
  infrastructure: InfrastructureObjects,
  signal: AbortSignal,
): Promise<Resource<InfrastructureObject>> {
  const resource = await infrastructure.kind({ group: INFRASTRUCTURE_GROUP, kind }, signal);
  try {
    await client.list(resource, { limit: 1 }, { signal });
    return resource;
  } catch (error) {
    if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    const problem = `the management cluster does not serve ${resource.plural}.${resource.group}: apply the provider's definitions (its CRDs alone, without its controller)`;
    throw new SpindriftError('CLOUD_NOT_CONFIGURED', { cloud: 'cluster-api', problem }, { cause: error });
  }
}
