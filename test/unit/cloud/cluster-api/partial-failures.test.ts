/** One object that cannot be read or written, or that is gone, does not keep the driver from the others. */
import { describe, expect, it } from 'vitest';
import type { MachineDeployment } from '../../../../src/apis/cluster-api/machine-deployment.ts';
import { INFRASTRUCTURE_GROUP, LABEL_CLUSTER_NAME } from '../../../../src/apis/cluster-api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../../src/apis/schema/custom-resource-definition.ts';
import { MachineNotices } from '../../../../src/cloud/cluster-api/care/machine-notices.ts';
import { ClusterApiDriver } from '../../../../src/cloud/cluster-api/cluster-api-driver.ts';
import { infrastructureKind, openDefinitions } from '../../../../src/cloud/cluster-api/core/open-definitions.ts';
import { InfrastructureObjects } from '../../../../src/cloud/cluster-api/infrastructure-objects.ts';
import { knownShapes } from '../../../../src/cloud/cluster-api/known-shapes.ts';
import { MachineDeploymentScaler } from '../../../../src/cloud/cluster-api/machine-deployment-scaler.ts';
import { ManagementCluster } from '../../../../src/cloud/cluster-api/management-cluster.ts';
import { NODE_CLASS_KIND } from '../../../../src/cloud/cluster-api/node-class-kind.ts';
import { LABEL_CLAIM_UID } from '../../../../src/cloud/cluster-api/own-names.ts';
import { ReplicaSettler } from '../../../../src/cloud/cluster-api/replica-settler.ts';
import { SelectedDeployments } from '../../../../src/cloud/cluster-api/selected-deployments.ts';
import { aReadyNodeClass } from '../../../../src/cloud/testkit/opened-clouds.ts';
import { ApiServer } from '../../../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../../../src/embedded/in-memory-client.ts';
import { KubeError } from '../../../../src/kube/kube-error.ts';
import { type Fault, FaultyClient } from '../../../../src/kube/testkit/faulty-client.ts';
import { SILENT_LOGGER } from '../../../../src/platform/logger.ts';
import { seededRandom } from '../../../../src/platform/random.ts';
import { VirtualClock } from '../../../../src/platform/virtual-clock.ts';
import { KINDS } from './machine-yard.ts';

const NEVER = new AbortController().signal;
const NAMESPACE = 'default';
const CLAIM = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'c', uid: 'uid-c', labels: {} },
  spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'fleet' }, requirements: [], expireAfter: '720h' },
} as const;

function refused(code: number): Fault {
  const status = {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    code,
    message: `${code}`,
  } as const;
  return { kind: 'refused', error: new KubeError(status) };
}

/** MachineDeployments on AWS and Azure, without a core: nothing happens that the test does not do. */
async function fleet() {
  const clock = new VirtualClock();
  const random = seededRandom('partial-failures');
  const direct = new InMemoryClient(new ApiServer({ clock, random }));
  for (const definition of openDefinitions(KINDS)) await direct.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  const state = { fault: (_verb: string, _kind: string, _name: string): Fault | undefined => undefined };
  const client = new FaultyClient({
    ...{ client: direct, clock },
    fault: (verb, kind, name) => state.fault(verb, kind, name),
  });
  const make = async (name: string, kind: string, spec: object): Promise<void> => {
    const templates = infrastructureKind(`${kind}Template`);
    const labels = { [LABEL_CLUSTER_NAME]: 'fleet' };
    const apiVersion = `${INFRASTRUCTURE_GROUP}/${templates.version}`;
    const template = { spec: { template: { spec } } };
    await direct.create(templates, {
      ...{ apiVersion, kind: templates.kind, metadata: { name, namespace: NAMESPACE }, ...template },
    });
    const infrastructureRef = { apiGroup: INFRASTRUCTURE_GROUP, kind: templates.kind, name };
    await direct.create(KINDS.machineDeployments, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: { name, namespace: NAMESPACE, labels },
      spec: {
        ...{ clusterName: 'fleet', replicas: 0 },
        template: {
          metadata: { labels },
          spec: { clusterName: 'fleet', failureDomain: 'us-east-1a', infrastructureRef },
        },
      },
    } as MachineDeployment);
  };
  await make('a', 'AzureMachine', { vmSize: 'Standard_D2s_v5' });
  await make('b', 'AWSMachine', { instanceType: 'm5.large' });
  const management = new ManagementCluster({ client, kinds: KINDS, clock, random });
  const infrastructure = new InfrastructureObjects({ client, clock });
  const selected = new SelectedDeployments({ management, infrastructure, findShape: knownShapes() });
  const scaler = new MachineDeploymentScaler({
    ...{ client, kinds: KINDS, clock, claimExists: () => true, graceMs: 60_000 },
  });
  const nodeClass = aReadyNodeClass({ nodeClass: NODE_CLASS_KIND as never }, 'fleet', { scalableResourceSelector: {} });
  const driver = new ClusterApiDriver({ clock, management, infrastructure, selected, scaler });
  return { clock, direct, state, management, infrastructure, selected, scaler, nodeClass, driver };
}

describe('templates of one provider that cannot be read', () => {
  it('leave the MachineDeployments of the others in the market, and say so at their own', async () => {
    const { clock, state, selected, driver, nodeClass } = await fleet();
    state.fault = (verb, kind) => (verb === 'list' && kind === 'azuremachinetemplates' ? refused(500) : undefined);
    const { instanceTypes } = await clock.run(driver.catalogue(nodeClass, NEVER));
    expect(instanceTypes.map(({ name }) => name)).toEqual(['m5.large']);
    const [azure] = await clock.run(selected.of(nodeClass as never, NEVER));
    expect(azure).toMatchObject({ key: 'default/a', problem: expect.stringContaining('cannot be read') });
  });

  it('are an error where there are no others: nothing is known then', async () => {
    const { clock, state, driver, nodeClass } = await fleet();
    state.fault = (verb, kind) => (verb === 'list' && kind.endsWith('templates') ? refused(500) : undefined);
    await expect(clock.run(driver.catalogue(nodeClass, NEVER))).rejects.toMatchObject({ code: 'CLOUD_UNAVAILABLE' });
  });
});

describe('a MachineDeployment', () => {
  it('whose writes are refused does not keep the others from being settled', async () => {
    const { clock, direct, state, management, scaler, nodeClass } = await fleet();
    for (const name of ['a', 'b'])
      await direct.patch(
        KINDS.machineDeployments,
        { namespace: NAMESPACE, name },
        { type: 'merge', body: { spec: { replicas: 3 } } },
      );
    state.fault = (verb, _kind, name) => (verb === 'patch' && name === 'a' ? refused(422) : undefined);
    const stop = new AbortController();
    const settler = new ReplicaSettler({
      ...{ clock, logger: SILENT_LOGGER, management, scaler, claimExists: () => true },
      nodeClasses: { list: () => [nodeClass] } as never,
    });
    const run = settler.run(stop.signal);
    await clock.advance(180_000);
    stop.abort();
    await clock.run(run);
    const replicas = async (name: string) =>
      (await direct.get(KINDS.machineDeployments, { namespace: NAMESPACE, name })).spec?.replicas;
    expect([await replicas('a'), await replicas('b')]).toEqual([3, 0]);
  });

  it('that is deleted while a claim waits for it frees the claim, for another or to go', async () => {
    const { clock, direct, driver, nodeClass } = await fleet();
    const offering = { instanceType: 'm5.large', zone: 'us-east-1a', capacityType: 'on-demand', price: 1 } as const;
    const request = { claim: CLAIM as never, nodeClass, offerings: [offering], attempt: 0, takeSlot: () => true };
    expect(await clock.run(driver.launch(request, NEVER))).toMatchObject({ kind: 'pending' });
    await direct.delete(KINDS.machineDeployments, { namespace: NAMESPACE, name: 'b' });
    expect(await clock.run(driver.delete({ claimUID: 'uid-c' }, NEVER))).toBe('gone');
    expect(await clock.run(driver.launch(request, NEVER))).toMatchObject({ kind: 'refused' });
  });

  it('that is deleted while a claim waits for it is refused to that claim', async () => {
    const { clock, direct, driver, nodeClass } = await fleet();
    const offering = { instanceType: 'm5.large', zone: 'us-east-1a', capacityType: 'on-demand', price: 1 } as const;
    const request = { claim: CLAIM as never, nodeClass, offerings: [offering], attempt: 0, takeSlot: () => true };
    await clock.run(driver.launch(request, NEVER));
    await direct.delete(KINDS.machineDeployments, { namespace: NAMESPACE, name: 'b' });
    expect(await clock.run(driver.launch(request, NEVER))).toMatchObject({ kind: 'refused' });
  });
});

describe('a machine whose infrastructure cannot be read', () => {
  it('does not silence the notices of the others', async () => {
    const { clock, direct, state, management, infrastructure } = await fleet();
    for (const [name, kind] of [
      ['m-1', 'AzureMachine'],
      ['m-2', 'GCPMachine'],
    ] as const) {
      const resource = infrastructureKind(kind);
      await direct.create(resource, {
        apiVersion: `${INFRASTRUCTURE_GROUP}/${resource.version}`,
        ...{ kind, metadata: { name, namespace: NAMESPACE }, spec: {}, status: { instanceStatus: 'TERMINATED' } },
      });
      await direct.create(KINDS.machines, {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Machine',
        metadata: { name, namespace: NAMESPACE, labels: { [LABEL_CLAIM_UID]: name } },
        spec: { providerID: `gce://p/z/${name}`, infrastructureRef: { apiGroup: INFRASTRUCTURE_GROUP, kind, name } },
      });
    }
    const status = { instanceStatus: 'TERMINATED' };
    const key = { namespace: NAMESPACE, name: 'm-2' };
    await direct.patch(
      infrastructureKind('GCPMachine'),
      key,
      { type: 'merge', body: { status } as never },
      {
        subresource: 'status',
      },
    );
    state.fault = (verb, kind) => (verb === 'list' && kind === 'azuremachines' ? refused(500) : undefined);
    const notices = new MachineNotices({
      ...{ clock, logger: SILENT_LOGGER, management, infrastructure, nodes: { get: () => undefined } as never },
    });
    const first = await clock.run(notices.receive(NEVER).next());
    expect(first.value).toMatchObject({ kind: 'preempted', machine: 'gce://p/z/m-2' });
  });
});
