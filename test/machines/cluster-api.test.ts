/**
 * The autoscaler beside the real core of Cluster API 1.14.2, on a real control plane: pods become replicas, machines and
 * Nodes; a machine that is to go is replaced before it goes; and a kill in the middle changes nothing of that. It runs as the
 * chart's service account where Helm is there.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ANNOTATION_REMEDIATE_MACHINE, LABEL_INTERRUPTIBLE } from '../../src/apis/cluster-api/names.ts';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { keyOf, type Resource } from '../../src/apis/kubernetes/object.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { infrastructureKind } from '../../src/cloud/cluster-api/core/open-definitions.ts';
import type { InfrastructureObject } from '../../src/cloud/cluster-api/infrastructure-objects.ts';
import { LABEL_CLAIM_UID } from '../../src/cloud/cluster-api/own-names.ts';
import { StandInProvider } from '../../src/cloud/cluster-api/testkit/stand-in-provider.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { type InstalledChart, installChart } from '../chart/installed-chart.ts';
import { refusals, unusedRights } from '../chart/rights.ts';
import { Kubectl } from '../kubernetes/harness/kubectl.ts';
import { SpindriftProcess } from '../kubernetes/harness/spindrift-process.ts';
import { findHelm } from '../peers/helm.ts';
import { startCoreManager } from './harness/core-manager.ts';
import { FleetView } from './harness/fleet-view.ts';
import type { ManagerProcess } from './harness/manager-process.ts';
import { makeSpotPool } from './harness/spot-pool.ts';
import { webDeployment } from './harness/web-deployment.ts';
import { KINDS, makeCluster, makeDeployment } from './harness/workload-cluster.ts';

const clock = new RealClock();
const POD_COUNT = 6;

/** What is needed when a machine fails or is lost, or when its infrastructure is not in the list yet; this story has no such day. */
const ON_BAD_DAYS = [
  'delete machines (cluster.x-k8s.io)',
  'patch machines/status (cluster.x-k8s.io)',
  'get * (infrastructure.cluster.x-k8s.io)',
];

describe('spindrift beside the real Cluster API core', { timeout: 300_000 }, () => {
  let client: KubeClient;
  let fleet: FleetView;
  let connection: Connection;
  let manager: ManagerProcess | undefined;
  let controller: SpindriftProcess | undefined;
  let chart: InstalledChart | undefined;
  let provider: StandInProvider;
  const stop = new AbortController();

  beforeAll(async () => {
    const { kubeconfig, directory, binaries, auditLog } = inject('controlPlane');
    ({ client, connection } = await connect({ clock, kubeconfig, requestsPerSecond: 1000, requestBurst: 1000 }));
    fleet = new FleetView(client);
    manager = await startCoreManager({ client, kubeconfig, directory: join(directory, 'cluster-api') });
    await makeCluster(client, kubeconfig);
    await makeDeployment(client, 'spot-a', 'us-east-1a', { instanceType: 'm5.large', spotMarketOptions: {} });
    await makeDeployment(client, 'spot-b', 'us-east-1b', { instanceType: 'm5.large', spotMarketOptions: {} });
    provider = new StandInProvider({
      ...{ client, clock, random: seededRandom('machines') },
      kind: infrastructureKind('AWSMachine') as Resource<InfrastructureObject>,
      startMs: [500, 2000],
      providerID: ({ metadata }) => `aws:///us-east-1a/i-${metadata.uid?.replaceAll('-', '').slice(0, 17)}`,
      node: ({ metadata }) => ({
        metadata: {
          name: metadata.name,
          annotations: { 'kwok.x-k8s.io/node': 'fake' },
          labels: {
            'kubernetes.io/hostname': metadata.name,
            'kubernetes.io/os': 'linux',
            'kubernetes.io/arch': 'amd64',
          },
        },
        status: {
          capacity: { cpu: '2', memory: '7576Mi', pods: '110' },
          allocatable: { cpu: '2', memory: '7476Mi', pods: '110' },
        },
      }),
    });
    provider.run(stop.signal).catch((error) => process.stderr.write(`${error}\n`));
    await makeSpotPool(client, 'fleet', stop.signal);
    const kubectl = new Kubectl(binaries.kubectl, kubeconfig);
    if (findHelm() !== undefined) chart = await installChart({ kubeconfig, kubectl, auditLog }, 'clouds={cluster-api}');
    controller = new SpindriftProcess(chart?.kubeconfig ?? kubeconfig, join(directory, 'spindrift.log'), {
      args: ['--cloud', 'cluster-api'],
    });
    controller.start();
  }, 240_000);

  afterAll(async () => {
    await controller?.kill();
    stop.abort();
    await manager?.stop();
    await connection?.close();
  });

  it('16: gives pods spot machines of MachineDeployments, and is killed on the way', async () => {
    await client.create(DEPLOYMENTS, webDeployment(POD_COUNT));
    await fleet.until(async () => ((await fleet.machines()).length > 0 ? undefined : 'no machine was asked for'));
    await controller?.kill();
    controller?.start();
    await fleet.untilPodsRun(POD_COUNT);
    // Nodes of kubeadm take pods as soon as they join; a process that was killed ties their machines to its claims when it is back.
    await fleet.untilMachinesAreTied();
    const claims = (await client.list(NODE_CLAIMS)).items;
    const owners = (await fleet.machines()).map(({ metadata }) => metadata.labels?.[LABEL_CLAIM_UID]);
    expect(owners.sort()).toEqual(claims.map(({ metadata }) => metadata.uid).sort());
    expect(await fleet.replicas()).toBe(claims.length);
    expect(provider.launches).toBe(claims.length);
  });

  it('33 to 36: labels the Nodes of spot machines as interruptible', async () => {
    await fleet.until(async () => {
      const { items } = await client.list(NODES, { labelSelector: LABEL_INTERRUPTIBLE });
      const wanted = (await fleet.machines()).length;
      return items.length === wanted ? undefined : `${items.length} of ${wanted} nodes have the label`;
    });
  });

  it('17, 37: replaces a machine that is to go before it goes', async () => {
    const before = await fleet.machines();
    const [going] = before;
    const body = { metadata: { annotations: { [ANNOTATION_REMEDIATE_MACHINE]: '' } } };
    await client.patch(KINDS.machines, keyOf(going!), { type: 'merge', body });
    let most = 0;
    await fleet.until(async () => {
      const present = await fleet.machines();
      const stays = present.some(
        ({ metadata }) => metadata.name === going?.metadata.name && metadata.deletionTimestamp === undefined,
      );
      if (stays) most = Math.max(most, present.length);
      return present.some(({ metadata }) => metadata.name === going?.metadata.name)
        ? `${going?.metadata.name} is there`
        : undefined;
    });
    expect(most).toBe(before.length + 1);
    await fleet.untilPodsRun(POD_COUNT);
    expect(await fleet.replicas()).toBe(before.length);
    expect((await fleet.machines()).length).toBe(before.length);
  });

  it('gives everything back when the pods go', async () => {
    await fleet.giveBack('fleet', async () => (await client.list(NODES)).items.length);
  });

  it('has used every right that the chart gives for Cluster API, and missed none', () => {
    if (chart === undefined) return;
    const uses = chart.uses();
    expect(refusals(uses)).toEqual([]);
    expect(unusedRights(chart.cloudRights, uses).filter((right) => !ON_BAD_DAYS.includes(right))).toEqual([]);
  });
});
