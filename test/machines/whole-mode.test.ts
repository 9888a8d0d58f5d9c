/**
 * Two clusters, and no infrastructure provider: Machines are in a management cluster with the real core of Cluster API 1.14.2, Nodes and
 * pods in a workload cluster. Spindrift launches the instances of AWSMachines itself, from an AWS account on loopback, and hears of
 * interruptions by a queue. A kill in the middle changes nothing of that.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CLUSTER_API_NODE_CLASSES } from '../../src/apis/cluster-api/cluster-api-node-class.ts';
import type { CoreMachine } from '../../src/apis/cluster-api/machine.ts';
import { LABEL_INTERRUPTIBLE } from '../../src/apis/cluster-api/names.ts';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { SECRETS } from '../../src/apis/kubernetes/core.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import type { Resource } from '../../src/apis/kubernetes/object.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import { installDefinitions } from '../../src/app/install-definitions.ts';
import { isMarked } from '../../src/cloud/cluster-api/census.ts';
import { infrastructureKind } from '../../src/cloud/cluster-api/core/open-definitions.ts';
import type { InfrastructureObject } from '../../src/cloud/cluster-api/infrastructure-objects.ts';
import { loadClusterApi } from '../../src/cloud/cluster-api/module.ts';
import { LABEL_CLAIM_UID } from '../../src/cloud/cluster-api/own-names.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { hasCode } from '../../src/platform/errors.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { AwsGround } from '../aws/aws-ground.ts';
import { ownControlPlane } from '../kubernetes/harness/own-control-plane.ts';
import { SpindriftProcess } from '../kubernetes/harness/spindrift-process.ts';
import { notAllRun, untilSo } from '../kubernetes/harness/until-so.ts';
import { CoreManager } from './harness/core-manager.ts';
import { CLUSTER, KINDS, MEMBER, makeCluster, makeDeployment, NAMESPACE } from './harness/workload-cluster.ts';

const clock = new RealClock();
const WAIT_MS = 240_000;
const POD_COUNT = 4;
const AWS_MACHINES = infrastructureKind('AWSMachine') as Resource<InfrastructureObject>;

describe('spindrift as the provider, on two clusters', { timeout: 300_000 }, () => {
  const plane = ownControlPlane('management', { controllerManager: true });
  const ground = new AwsGround();
  const connections: Connection[] = [];
  const stop = new AbortController();
  let management: KubeClient;
  let workload: KubeClient;
  let manager: CoreManager | undefined;
  let controller: SpindriftProcess | undefined;
  const until = (missing: () => Promise<string | undefined>): Promise<void> =>
    untilSo({ clock, withinMs: WAIT_MS, missing });
  const machines = async (): Promise<readonly CoreMachine[]> => (await management.list(KINDS.machines)).items;
  const replicas = async (): Promise<number> =>
    (await management.list(KINDS.machineDeployments)).items.reduce((sum, { spec }) => sum + (spec?.replicas ?? 0), 0);
  const webPods = async () => (await workload.list(PODS, { namespace: 'default', labelSelector: 'app=web' })).items;

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
    connections.push(there.connection, here.connection);
    const account = await ground.seed({ cluster: CLUSTER, zones: ['us-east-1a'] });
    manager = await CoreManager.start({
      client: management,
      kubeconfig: plane.kubeconfig,
      directory: join(directory, 'cluster-api-of-two'),
    });
    const subnets = Object.entries(account.privateSubnets).map(([availabilityZone, id]) => ({ id, availabilityZone }));
    await makeCluster(management, kubeconfig, {
      managedBy: 'spindrift',
      infrastructure: {
        region: ground.region,
        network: { subnets, securityGroupOverrides: { node: account.securityGroup } },
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
    await installDefinitions(workload, [await loadClusterApi({ unclaimedGraceMs: 60_000 })], stop.signal);
    await workload.create(CLUSTER_API_NODE_CLASSES, {
      apiVersion: 'karpenter.cluster.x-k8s.io/v1alpha1',
      kind: 'ClusterAPINodeClass',
      metadata: { name: 'two' },
      spec: { scalableResourceSelector: { matchExpressions: [{ key: MEMBER, operator: 'Exists' }] } },
    });
    const { spec } = DEFAULT_NODE_POOL;
    const nodeClassRef = { group: CLUSTER_API_NODE_CLASSES.group, kind: CLUSTER_API_NODE_CLASSES.kind, name: 'two' };
    const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['spot'] }];
    await workload.create(NODE_POOLS, {
      ...DEFAULT_NODE_POOL,
      metadata: { name: 'two' },
      spec: {
        ...spec,
        disruption: { ...spec.disruption, consolidateAfter: 'Never' },
        template: { ...spec.template, spec: { ...spec.template.spec, nodeClassRef, requirements } },
      },
    });
    boot().catch((error) => process.stderr.write(`${error}\n`));
    controller = new SpindriftProcess(kubeconfig, join(directory, 'spindrift-of-two.log'), {
      args: [
        ...['--cloud', 'cluster-api', '--cluster-api-kubeconfig', plane.kubeconfig, '--cluster-api-cluster', CLUSTER],
        ...['--cluster-api-machines', 'aws', '--cluster-api-interruption-queue', account.queue],
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

  /** Instances that run join the workload cluster as kubeadm would have them join. */
  async function boot(): Promise<void> {
    while (!stop.signal.aborted) {
      for (const { id, zone, state } of await ground.instances()) {
        if (state !== 'running') continue;
        const capacity = { cpu: '2', memory: '7576Mi', pods: '110' };
        const labels = { 'kubernetes.io/hostname': id, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
        await workload
          .create(NODES, {
            apiVersion: 'v1',
            kind: 'Node',
            metadata: { name: id, labels, annotations: { 'kwok.x-k8s.io/node': 'fake' } },
            spec: { providerID: `aws:///${zone}/${id}` },
            status: { capacity, allocatable: capacity },
          })
          .catch((error) => {
            if (!hasCode(error, 'KUBE_ALREADY_EXISTS')) throw error;
          });
      }
      await clock.sleep(500, stop.signal).catch(() => {});
    }
  }

  it('1, 9, 16, 33, 34: gives pods of one cluster spot machines of the other, with an instance each', async () => {
    await workload.create(DEPLOYMENTS, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: POD_COUNT,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: {
            terminationGracePeriodSeconds: 2,
            containers: [{ name: 'main', image: 'main:1', resources: { requests: { cpu: '800m', memory: '1Gi' } } }],
          },
        },
      },
    });
    await until(async () => notAllRun(await webPods(), POD_COUNT));
    await until(async () => {
      const untied = (await machines()).find(({ metadata }) => metadata.labels?.[LABEL_CLAIM_UID] === undefined);
      return untied && `machine ${untied.metadata.name} belongs to no claim`;
    });
    const found = await machines();
    expect(await replicas()).toBe(found.length);
    const launches = await ground.launches();
    expect(launches).toHaveLength(found.length);
    const { items } = await management.list(AWS_MACHINES);
    for (const { status } of items) expect(status).toMatchObject({ ready: true, interruptible: true });
    // The real core has taken over what the contract promises.
    for (const { spec, status } of found) {
      expect(spec?.providerID).toMatch(/^aws:\/\/\/us-east-1a\/i-/);
      expect(status).toMatchObject({ phase: 'Running' });
    }
    await until(async () => {
      const labelled = (await workload.list(NODES, { labelSelector: LABEL_INTERRUPTIBLE })).items;
      return labelled.length === found.length ? undefined : `${labelled.length} of ${found.length} nodes are labelled`;
    });
  });

  it('17, 23, 32, 37: an interruption on the queue: replacement first, drained, machine deleted; killed in the middle', async () => {
    const before = await machines();
    const [going] = before;
    const id = going?.spec?.providerID?.split('/').at(-1) ?? '';
    await ground.interrupt({ id, kind: 'spot' });
    const wrong = new Set<string>();
    let most = 0;
    let killed = false;
    await until(async () => {
      const present = await machines();
      const kept = present.filter((each) => each.metadata.deletionTimestamp === undefined && !isMarked(each));
      const owners = kept.flatMap(({ metadata }) => metadata.labels?.[LABEL_CLAIM_UID] ?? []);
      if (new Set(owners).size < owners.length) wrong.add('a claim has two machines');
      if ((await replicas()) < owners.length) wrong.add('there are fewer replicas than machines of claims');
      const isThere = present.some(({ metadata }) => metadata.uid === going?.metadata.uid);
      if (isThere) most = Math.max(most, present.length);
      const running = (await webPods()).filter(({ status }) => status?.phase === 'Running').length;
      if (present.length <= before.length && isThere && running < POD_COUNT)
        wrong.add('a pod left before the replacement');
      if (!killed && present.length > before.length) {
        killed = true;
        await controller?.kill();
        controller?.start();
      }
      return isThere ? `machine ${going?.metadata.name} is there` : undefined;
    });
    expect([...wrong]).toEqual([]);
    expect(killed).toBe(true);
    expect(most).toBe(before.length + 1);
    await until(async () => notAllRun(await webPods(), POD_COUNT));
    expect(await replicas()).toBe(before.length);
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
    await until(async () => {
      const { items } = await management.list(AWS_MACHINES);
      failed = items.find(({ metadata }) => metadata.name?.startsWith('sold-out'));
      return failed?.status?.failureReason === undefined ? 'the machine has not failed' : undefined;
    });
    expect(failed?.status?.failureMessage).toContain('InsufficientInstanceCapacity');
    await clock.sleep(10_000);
    expect((await ground.launches()).length - since).toBe(1);
    await management.patch(KINDS.machineDeployments, key, { type: 'merge', body: { spec: { replicas: 0 } } });
  });

  it('30: gives everything back when the pods go', async () => {
    await workload.delete(DEPLOYMENTS, { namespace: 'default', name: 'web' });
    await workload.delete(NODE_POOLS, { name: 'two' });
    for (const { metadata } of (await workload.list(NODE_CLAIMS)).items)
      await workload.delete(NODE_CLAIMS, { name: metadata.name ?? '' }).catch(() => {});
    await until(async () => {
      const live = await ground.instances();
      const left = [(await machines()).length, live.length, await replicas()];
      return left.every((count) => count === 0)
        ? undefined
        : `${left.join(', ')} machines, instances and replicas are left`;
    });
  });
});
