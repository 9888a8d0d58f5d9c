/**
 * Two clusters, and no infrastructure provider: Machines are in a management cluster with the real core of Cluster API 1.14.2, Nodes and
 * pods in a workload cluster. Spindrift launches the instances of AWSMachines itself, from an AWS account on loopback, and hears of
 * interruptions by a queue. A kill in the middle changes nothing of that. In the management cluster it has the rights that the chart gives
 * for this mode, where Helm is there.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { CoreMachine } from '../../src/apis/cluster-api/machine.ts';
import { LABEL_INTERRUPTIBLE } from '../../src/apis/cluster-api/names.ts';
import { SECRETS } from '../../src/apis/kubernetes/core.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import type { Resource } from '../../src/apis/kubernetes/object.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { INSTANCE_CREATABLE } from '../../src/cloud/cluster-api/care/machine-condition.ts';
import { isMarked } from '../../src/cloud/cluster-api/census.ts';
import { infrastructureKind } from '../../src/cloud/cluster-api/core/open-definitions.ts';
import type { InfrastructureObject } from '../../src/cloud/cluster-api/infrastructure-objects.ts';
import { LABEL_CLAIM_UID } from '../../src/cloud/cluster-api/own-names.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { AwsGround } from '../aws/aws-ground.ts';
import { type InstalledChart, installChart } from '../chart/installed-chart.ts';
import { refusals, unusedRights } from '../chart/rights.ts';
import { ownControlPlane } from '../kubernetes/harness/own-control-plane.ts';
import { SpindriftProcess } from '../kubernetes/harness/spindrift-process.ts';
import { findHelm } from '../peers/helm.ts';
import { AWS_CONTRACT, findClusterApiProviderAws } from './harness/cluster-api-provider-aws.ts';
import { startCoreManager } from './harness/core-manager.ts';
import { FleetView } from './harness/fleet-view.ts';
import { joinInstances } from './harness/joining-instances.ts';
import type { ManagerProcess } from './harness/manager-process.ts';
import { installPublished } from './harness/published-definitions.ts';
import { makeSpotPool } from './harness/spot-pool.ts';
import { webDeployment } from './harness/web-deployment.ts';
import { CLUSTER, KINDS, MEMBER, makeCluster, makeDeployment, NAMESPACE } from './harness/workload-cluster.ts';

const clock = new RealClock();
const POD_COUNT = 4;
/** What the chart gives for the cluster with the node classes, and what is needed where infrastructure is not in the list yet. */
const ELSEWHERE = [
  ...['list', 'watch'].map((verb) => `${verb} clusterapinodeclasses (karpenter.cluster.x-k8s.io)`),
  'patch clusterapinodeclasses/status (karpenter.cluster.x-k8s.io)',
  'get * (infrastructure.cluster.x-k8s.io)',
];
const AWS_MACHINES = infrastructureKind('AWSMachine') as Resource<InfrastructureObject>;

describe('spindrift as the provider, on two clusters', { timeout: 300_000 }, () => {
  const plane = ownControlPlane('management', { controllerManager: true });
  const ground = new AwsGround();
  const connections: Connection[] = [];
  const stop = new AbortController();
  let management: KubeClient;
  let workload: KubeClient;
  let fleet: FleetView;
  let manager: ManagerProcess | undefined;
  let controller: SpindriftProcess | undefined;
  let chart: InstalledChart | undefined;

  beforeAll(async () => {
    const { kubeconfig, directory } = inject('controlPlane');
    await Promise.all([plane.start(), ground.start()]);
    const limits = { clock, requestsPerSecond: 1000, requestBurst: 1000 };
    const [there, here] = await Promise.all([
      connect({ ...limits, kubeconfig: plane.kubeconfig }),
      connect({ ...limits, kubeconfig }),
    ]);
    management = there.client;
    workload = here.client;
    fleet = new FleetView(management, workload);
    connections.push(there.connection, here.connection);
    const seeded = await ground.seed({ cluster: CLUSTER, zones: ['us-east-1a'] });
    manager = await startCoreManager({
      client: management,
      kubeconfig: plane.kubeconfig,
      directory: join(directory, 'cluster-api-of-two'),
    });
    const subnets = Object.entries(seeded.privateSubnets).map(([availabilityZone, id]) => ({ id, availabilityZone }));
    // CAPA's definitions without its program, as docs/cluster-api.md asks for; kinds that accept any fields where CAPA is not built.
    const published = findClusterApiProviderAws();
    if (published !== undefined) await installPublished(management, { ...published, contract: AWS_CONTRACT });
    await makeCluster(management, kubeconfig, {
      hasProvider: published !== undefined,
      managedBy: 'spindrift',
      infrastructure: {
        region: ground.region,
        network: { subnets, securityGroupOverrides: { node: seeded.securityGroup } },
      },
    });
    await management.create(SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'join', namespace: NAMESPACE },
      data: { value: Buffer.from('#cloud-config').toString('base64') },
    });
    // After a notice an offering is out of the market for a while: the replacement is of the other type.
    for (const instanceType of ['m5.large', 'm5.xlarge'])
      await makeDeployment(management, instanceType.replace('.', '-'), 'us-east-1a', {
        instanceType,
        imageLookupOrg: 'amazon',
        imageLookupFormat: 'amazon-eks-node-al2023-x86_64-standard-1.36-*',
        spotMarketOptions: {},
      });
    await makeSpotPool(workload, 'two', stop.signal);
    joinInstances(ground, workload, stop.signal).catch((error) => process.stderr.write(`${error}\n`));
    if (findHelm() !== undefined)
      chart = await installChart(plane, 'clouds={cluster-api}', 'clusterApi.machines={aws}');
    const account = chart?.kubeconfig ?? plane.kubeconfig;
    controller = new SpindriftProcess(kubeconfig, join(directory, 'spindrift-of-two.log'), {
      args: [
        ...['--cloud', 'cluster-api', '--cluster-api-kubeconfig', account, '--cluster-api-cluster', CLUSTER],
        ...['--cluster-api-machines', 'aws', '--cluster-api-interruption-queue', seeded.queue],
      ],
      env: ground.environment,
    });
    controller.start();
  }, 300_000);

  afterAll(async () => {
    await controller?.kill();
    stop.abort();
    await manager?.stop();
    for (const connection of connections) await connection.close();
    await plane.stop();
    await ground.stop();
  });

  it('1, 9, 16, 33, 34: gives pods of one cluster spot machines of the other, with an instance each', async () => {
    await workload.create(DEPLOYMENTS, webDeployment(POD_COUNT));
    await fleet.untilPodsRun(POD_COUNT);
    await fleet.untilMachinesAreTied();
    const found = await fleet.machines();
    expect(await fleet.replicas()).toBe(found.length);
    const launches = await ground.launches();
    expect(launches).toHaveLength(found.length);
    const { items } = await management.list(AWS_MACHINES);
    for (const { status } of items) expect(status).toMatchObject({ ready: true, interruptible: true });
    // The real core has taken over what the contract promises.
    for (const { spec, status } of found) {
      expect(spec?.providerID).toMatch(/^aws:\/\/\/us-east-1a\/i-/);
      expect(status).toMatchObject({ phase: 'Running' });
    }
    await fleet.until(async () => {
      const labelled = (await workload.list(NODES, { labelSelector: LABEL_INTERRUPTIBLE })).items;
      return labelled.length === found.length ? undefined : `${labelled.length} of ${found.length} nodes are labelled`;
    });
  });

  it('17, 23, 32, 37: an interruption on the queue: replacement first, drained, machine deleted; killed in the middle', async () => {
    const before = await fleet.machines();
    const [going] = before;
    const id = going?.spec?.providerID?.split('/').at(-1) ?? '';
    await ground.interrupt({ id, kind: 'spot' });
    let killed = false;
    const { most, wrong } = await fleet.untilReplaced(going as CoreMachine, POD_COUNT, async (present, amiss) => {
      const kept = present.filter((each) => each.metadata.deletionTimestamp === undefined && !isMarked(each));
      const owners = kept.flatMap(({ metadata }) => metadata.labels?.[LABEL_CLAIM_UID] ?? []);
      if (new Set(owners).size < owners.length) amiss.add('a claim has two machines');
      if ((await fleet.replicas()) < owners.length) amiss.add('there are fewer replicas than machines of claims');
      if (killed || present.length <= before.length) return;
      killed = true;
      await controller?.kill();
      controller?.start();
    });
    expect(wrong).toEqual([]);
    expect(killed).toBe(true);
    expect(most).toBe(before.length + 1);
    await fleet.untilPodsRun(POD_COUNT);
    expect(await fleet.replicas()).toBe(before.length);
    const live = (await ground.instances()).map((instance) => instance.id);
    expect(live).not.toContain(id);
    expect(live).toHaveLength(before.length);
  });

  it('41: a type without stock fails the machine, and is not tried in a loop', async () => {
    await ground.exhaust({ type: 'c5.large', capacityType: 'spot' });
    const since = (await ground.launches()).length;
    await makeDeployment(management, 'sold-out', 'us-east-1a', {
      instanceType: 'c5.large',
      imageLookupOrg: 'amazon',
      imageLookupFormat: 'amazon-eks-node-al2023-x86_64-standard-1.36-*',
      spotMarketOptions: {},
    });
    const key = { namespace: NAMESPACE, name: 'sold-out' };
    const labels = { [MEMBER]: null };
    const scale = { type: 'merge', body: { metadata: { labels }, spec: { replicas: 1 } } } as const;
    await management.patch(KINDS.machineDeployments, key, scale);
    let failed: InfrastructureObject | undefined;
    await fleet.until(async () => {
      const { items } = await management.list(AWS_MACHINES);
      failed = items.find(({ metadata }) => metadata.name?.startsWith('sold-out'));
      return failed?.status?.failureReason === undefined ? 'the machine has not failed' : undefined;
    });
    expect(failed?.status?.failureMessage).toContain('InsufficientInstanceCapacity');
    // Until then the machine has been looked after several times, and its MachineDeployment may not go before that.
    await fleet.until(async () => {
      const machine = (await fleet.machines()).find(({ metadata }) => metadata.name?.startsWith('sold-out'));
      const said = machine?.status?.conditions?.find(({ type }) => type === INSTANCE_CREATABLE);
      return said?.reason === 'InsufficientCapacity' ? undefined : 'the Machine does not say that there is no capacity';
    });
    expect((await ground.launches()).length - since).toBe(1);
    await management.patch(KINDS.machineDeployments, key, { type: 'merge', body: { spec: { replicas: 0 } } });
  });

  it('10, 14: an instance that is lost is not made again: its Machine goes, and the set makes another', async () => {
    await makeDeployment(management, 'by-hand', 'us-east-1a', {
      instanceType: 'm5.large',
      imageLookupOrg: 'amazon',
      imageLookupFormat: 'amazon-eks-node-al2023-x86_64-standard-1.36-*',
      spotMarketOptions: {},
    });
    const key = { namespace: NAMESPACE, name: 'by-hand' };
    const labels = { [MEMBER]: null };
    const scaled = { type: 'merge', body: { metadata: { labels }, spec: { replicas: 1 } } } as const;
    await management.patch(KINDS.machineDeployments, key, scaled);
    const own = async () => (await fleet.machines()).find(({ metadata }) => metadata.name?.startsWith('by-hand'));
    await fleet.until(async () => ((await own())?.spec?.providerID === undefined ? 'it has no instance' : undefined));
    const lost = await own();
    await ground.terminate(lost?.spec?.providerID?.split('/').at(-1) ?? '');
    await fleet.until(async () => {
      const present = await own();
      const isNew = present !== undefined && present.metadata.uid !== lost?.metadata.uid;
      return isNew && present.spec?.providerID !== undefined ? undefined : 'no other machine has come';
    });
    await management.patch(KINDS.machineDeployments, key, { type: 'merge', body: { spec: { replicas: 0 } } });
  });

  it('30: gives everything back when the pods go', async () => {
    await fleet.giveBack('two', async () => (await ground.instances()).length);
  });

  it('has used every right that the chart gives for this mode, and missed none', () => {
    if (chart === undefined) return;
    const uses = chart.uses();
    expect(refusals(uses)).toEqual([]);
    expect(unusedRights(chart.cloudRights, uses).filter((right) => !ELSEWHERE.includes(right))).toEqual([]);
  });
});
