/**
 * The autoscaler beside the real infrastructure provider: the core of Cluster API 1.14.2 and CAPA 2.13.0 with their webhooks, on a real
 * control plane and an AWS account on loopback. The operator has made the network and the control plane; machines are all CAPA's.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { CoreMachine } from '../../src/apis/cluster-api/machine.ts';
import { LABEL_INTERRUPTIBLE } from '../../src/apis/cluster-api/names.ts';
import { SECRETS } from '../../src/apis/kubernetes/core.ts';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import type { Resource } from '../../src/apis/kubernetes/object.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { infrastructureKind } from '../../src/cloud/cluster-api/core/open-definitions.ts';
import type { InfrastructureObject } from '../../src/cloud/cluster-api/infrastructure-objects.ts';
import { ANNOTATION_PRICE } from '../../src/cloud/cluster-api/own-names.ts';
import { PROVIDED_KINDS } from '../../src/cloud/cluster-api/provider/provided-kinds.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { AwsGround } from '../aws/aws-ground.ts';
import { ownControlPlane } from '../kubernetes/harness/own-control-plane.ts';
import { SpindriftProcess } from '../kubernetes/harness/spindrift-process.ts';
import { startAwsManager } from './harness/aws-manager.ts';
import { findClusterApiProviderAws } from './harness/cluster-api-provider-aws.ts';
import { startCoreManager } from './harness/core-manager.ts';
import { FleetView } from './harness/fleet-view.ts';
import { joinInstances } from './harness/joining-instances.ts';
import type { ManagerProcess } from './harness/manager-process.ts';
import { makeSpotPool } from './harness/spot-pool.ts';
import { webDeployment } from './harness/web-deployment.ts';
import { CLUSTER, KINDS, makeCluster, makeDeployment, NAMESPACE } from './harness/workload-cluster.ts';

const clock = new RealClock();
const POD_COUNT = 4;
const ZONE = 'us-east-1a';
const SOLD_OUT = 'm5.large';
/** From the cheapest to the dearest, all of two cores: a machine is replaced by one machine. After a notice, the next type is taken. */
const PRICES = { [SOLD_OUT]: '0.03', 'm5a.large': '0.04', 'm5d.large': '0.05' };
const AWS_MACHINES = infrastructureKind('AWSMachine') as Resource<InfrastructureObject>;

const isBuilt = findClusterApiProviderAws() !== undefined;
const name = `spindrift beside the real CAPA${isBuilt ? '' : ' (not built: npm run peers:cluster-api-provider-aws)'}`;

describe.skipIf(!isBuilt)(name, { timeout: 300_000 }, () => {
  const ground = new AwsGround();
  const stop = new AbortController();
  const managers: ManagerProcess[] = [];
  const processes: SpindriftProcess[] = [];
  let plane: ReturnType<typeof ownControlPlane>;
  let client: KubeClient;
  let fleet: FleetView;
  let connection: Connection | undefined;
  const awsMachines = async (): Promise<readonly InfrastructureObject[]> => (await client.list(AWS_MACHINES)).items;

  const start = (log: string, ...args: string[]): void => {
    const file = join(inject('controlPlane').directory, log);
    const controller = new SpindriftProcess(plane.kubeconfig, file, {
      args: ['--cloud', 'cluster-api', ...args],
      env: ground.environment,
    });
    processes.push(controller);
    controller.start();
  };

  beforeAll(async () => {
    const { directory } = inject('controlPlane');
    plane = ownControlPlane('capa', { controllerManager: true, scheduler: true, kwok: true });
    await Promise.all([plane.start(), ground.start()]);
    const limits = { clock, requestsPerSecond: 1000, requestBurst: 1000 };
    ({ client, connection } = await connect({ ...limits, kubeconfig: plane.kubeconfig }));
    fleet = new FleetView(client);
    const account = await ground.seed({ cluster: CLUSTER, zones: [ZONE] });
    const place = { client, kubeconfig: plane.kubeconfig };
    managers.push(await startCoreManager({ ...place, directory: join(directory, 'core-of-capa') }));
    managers.push(await startAwsManager({ ...place, directory: join(directory, 'capa-itself') }, ground));
    const subnets = Object.entries(account.privateSubnets).map(([availabilityZone, id]) => ({ id, availabilityZone }));
    await makeCluster(client, plane.kubeconfig, {
      ...{ hasProvider: true, managedBy: 'operator', isProvisioned: true },
      infrastructure: { region: ground.region, network: { vpc: { id: account.vpc }, subnets } },
    });
    await client.create(SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'join', namespace: NAMESPACE },
      data: { value: Buffer.from('#cloud-config').toString('base64') },
    });
    const [image] = await ground.images('amazon-eks-node-al2023-x86_64-standard-1.36-');
    for (const [instanceType, price] of Object.entries(PRICES)) {
      const key = { namespace: NAMESPACE, name: instanceType.replace('.', '-') };
      await makeDeployment(client, key.name, ZONE, {
        instanceType,
        ami: { id: image?.id },
        additionalSecurityGroups: [{ id: account.securityGroup }],
        cloudInit: { insecureSkipSecretsManager: true },
        spotMarketOptions: {},
      });
      const body = { metadata: { annotations: { [ANNOTATION_PRICE]: price } } };
      await client.patch(KINDS.machineDeployments, key, { type: 'merge', body });
    }
    await ground.exhaust({ type: SOLD_OUT, capacityType: 'spot' });
    await makeSpotPool(client, 'capa', stop.signal);
    joinInstances(ground, client, stop.signal).catch((error) => process.stderr.write(`${error}\n`));
    start('spindrift-of-capa.log', '--cluster-api-interruption-queue', account.queue);
  }, 300_000);

  afterAll(async () => {
    for (const controller of processes) await controller.kill();
    stop.abort();
    for (const manager of managers) await manager.stop();
    await connection?.close();
    await plane?.stop();
    await ground.stop();
  });

  it('16, 41: pods get machines of a type that has stock, after CAPA has said that another has none', async () => {
    await client.create(DEPLOYMENTS, webDeployment(POD_COUNT));
    await fleet.untilPodsRun(POD_COUNT);
    const said = (await client.list(EVENTS)).items.filter(({ reason }) => reason === 'FailedCreate');
    expect(said.map(({ message }) => message).join()).toContain('InsufficientInstanceCapacity');
    const launched = (await ground.instances()).map(({ type }) => type);
    expect(launched).toEqual(launched.map(() => 'm5a.large'));
    // The machines of the type without stock are given back.
    await fleet.untilMachinesAreTied();
    expect(await fleet.replicas()).toBe((await fleet.machines()).length);
  });

  it('1, 2, 9, 18, 33, 34: each is one spot instance that CAPA launched, and its Node says that it can be interrupted', async () => {
    const { finalizer } = PROVIDED_KINDS.aws;
    for (const { metadata, spec, status } of await awsMachines()) {
      expect(metadata.finalizers).toContain(finalizer);
      expect(spec?.providerID).toMatch(/^aws:\/\/\/us-east-1a\/i-/);
      expect(status).toMatchObject({ ready: true, interruptible: true, instanceState: 'running' });
    }
    const live = await ground.instances();
    expect(live.map(({ capacityType }) => capacityType)).toEqual(live.map(() => 'spot'));
    const ids = (await fleet.machines()).map(({ spec }) => spec?.providerID?.split('/').at(-1));
    expect(live.map(({ id }) => id).sort()).toEqual(ids.sort());
    await fleet.until(async () => {
      const labelled = (await client.list(NODES, { labelSelector: LABEL_INTERRUPTIBLE })).items;
      return labelled.length === ids.length ? undefined : `${labelled.length} of ${ids.length} nodes are labelled`;
    });
  });

  it('refuses to reconcile AWSMachines itself where CAPA leads', async () => {
    const log = 'spindrift-against-capa.log';
    start(log, '--cluster-api-machines', 'aws');
    const file = join(inject('controlPlane').directory, log);
    await fleet.until(async () =>
      readFileSync(file, 'utf8').includes('CAPA reconciles AWSMachines already') ? undefined : 'it says nothing',
    );
    await processes.pop()?.kill();
    expect(readFileSync(file, 'utf8')).toContain('Lease default/controller-leader-elect-capa');
  });

  it('17, 23, 32, 37: an interruption: replacement first, drained, machine deleted, and CAPA ends the instance', async () => {
    const before = await fleet.machines();
    const [going] = before;
    const id = going?.spec?.providerID?.split('/').at(-1) ?? '';
    await ground.interrupt({ id, kind: 'spot' });
    const { most, wrong } = await fleet.untilReplaced(going as CoreMachine, POD_COUNT);
    expect(wrong).toEqual([]);
    expect(most).toBe(before.length + 1);
    await fleet.untilPodsRun(POD_COUNT);
    expect(await fleet.replicas()).toBe(before.length);
    const live = (await ground.instances()).map((instance) => instance.id);
    expect(live).not.toContain(id);
    expect(live).toHaveLength(before.length);
  });

  it('gives everything back when the pods go', async () => {
    await fleet.giveBack('capa', async () => (await ground.instances()).length);
  });
});
