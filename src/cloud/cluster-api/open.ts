/** The driver, put together with its caches and controllers. */
import { LABEL_RESERVATION_ID } from '../../apis/aws/labels.ts';
import type { ClusterApiNodeClass } from '../../apis/cluster-api/cluster-api-node-class.ts';
import type { KubeClient } from '../../kube/client.ts';
import { connect } from '../../kube/connect.ts';
import { EventRecorder } from '../../kube/event-recorder.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Cloud, NoticeSource } from '../cloud.ts';
import type { CloudWorld } from '../cloud-module.ts';
import { MachineCare } from './care/machine-care.ts';
import { MachineNotices } from './care/machine-notices.ts';
import { RemediationBackoff } from './care/remediation-backoff.ts';
import { ClusterApiDriver } from './cluster-api-driver.ts';
import { InfrastructureObjects } from './infrastructure-objects.ts';
import { knownShapes } from './known-shapes.ts';
import { MachineDeploymentScaler } from './machine-deployment-scaler.ts';
import { instanceKey } from './machine-of.ts';
import { ManagementCluster, servedCoreKinds } from './management-cluster.ts';
import type { ClusterApiSettings } from './module.ts';
import { NodeClassController } from './node-class-controller.ts';
import { openProvider } from './provider/open-provider.ts';
import { ReplicaSettler } from './replica-settler.ts';
import { SelectedDeployments } from './selected-deployments.ts';

/** How long it may take to see whether another controller owns the kinds. */
const OPEN_MS = 60_000;

export async function openClusterApi(world: CloudWorld, settings: ClusterApiSettings): Promise<Cloud> {
  const { clock, logger, informers, client: workload } = world;
  const client = await managementClient(world, settings);
  const random = world.random.split('cluster-api');
  const kinds = await servedCoreKinds(client);
  const { namespace, cluster, unclaimedGraceMs: graceMs } = settings;
  const place = namespace === undefined ? {} : { namespace };
  const management = new ManagementCluster({
    client,
    kinds,
    clock,
    random,
    ...place,
    ...(cluster !== undefined && { cluster }),
  });
  const infrastructure = new InfrastructureObjects({ client, clock, ...place });
  const findShape = knownShapes();
  const selected = new SelectedDeployments({ management, infrastructure, findShape });
  const claimExists = (uid: string): boolean =>
    informers.nodeClaims.list().some(({ metadata }) => metadata.uid === uid);
  const scaler = new MachineDeploymentScaler({ client, kinds, clock, logger, claimExists, graceMs });
  const nodeClasses = informers.nodeClasses as unknown as Informer<ClusterApiNodeClass>;
  const { nodes } = informers;
  const recorder =
    client === workload ? world.recorder : new EventRecorder({ client, clock, random, logger, component: 'spindrift' });
  const backoff = new RemediationBackoff({ clock });
  const caches = { name: 'cluster-api.caches', run: (signal: AbortSignal) => management.run(signal) };
  const clouds = (await settings.instanceClouds?.(world)) ?? [];
  const limit = clock.deadline(OPEN_MS);
  const provider = await openProvider(
    { client, clock, random, logger, recorder, management, infrastructure, findShape, clouds },
    limit.signal,
  ).finally(() => limit.cancel());
  return new ClusterApiDriver({
    ...{ clock, management, infrastructure, selected, scaler },
    controllers: [
      caches,
      new NodeClassController({ client: workload, clock, logger, selected, nodeClasses }),
      new ReplicaSettler({ clock, logger, management, scaler, nodeClasses, claimExists }),
      new MachineCare({ clock, logger, management, infrastructure, workload, nodes, recorder, backoff }),
      ...provider,
    ],
    noticeSources: [
      new MachineNotices({ clock, logger, management, infrastructure, nodes }),
      ...(await queueSources(world, settings)),
    ],
  });
}

/** AWS tells of interruptions by a queue; no agent on the nodes is needed then. */
async function queueSources(
  { clock, logger, metrics, informers }: CloudWorld,
  { interruptionQueue }: ClusterApiSettings,
): Promise<readonly NoticeSource[]> {
  if (interruptionQueue === undefined) return [];
  const { awsNoticeSources } = await import('../aws/interruption/aws-notice-sources.ts');
  return awsNoticeSources({
    ...{ clock, logger, metrics, interruptionQueue, nodeClaims: informers.nodeClaims },
    machineKey: instanceKey,
    reservationLabel: LABEL_RESERVATION_ID,
  });
}

async function managementClient(
  { client, clock, logger, metrics }: CloudWorld,
  { kubeconfig }: ClusterApiSettings,
): Promise<KubeClient> {
  if (kubeconfig === undefined) return client;
  return (await connect({ clock, logger, metrics, kubeconfig, requestsPerSecond: 200, requestBurst: 300 })).client;
}
