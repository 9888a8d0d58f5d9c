/** 500 MachineDeployments with 5,000 machines: how long the driver takes to read and settle them, with how many calls and how much memory. */
import { coreKinds } from '../../src/apis/cluster-api/core-kinds.ts';
import { INFRASTRUCTURE_GROUP, LABEL_CLUSTER_NAME, LABEL_DEPLOYMENT_NAME } from '../../src/apis/cluster-api/names.ts';
import type { KubeObject, Resource } from '../../src/apis/kubernetes/object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import type { AwsApi } from '../../src/cloud/aws/api/aws-api.ts';
import { ClusterApiDriver } from '../../src/cloud/cluster-api/cluster-api-driver.ts';
import { infrastructureKind, openDefinitions } from '../../src/cloud/cluster-api/core/open-definitions.ts';
import {
  type InfrastructureObject,
  InfrastructureObjects,
} from '../../src/cloud/cluster-api/infrastructure-objects.ts';
import { knownShapes } from '../../src/cloud/cluster-api/known-shapes.ts';
import { MachineDeploymentScaler } from '../../src/cloud/cluster-api/machine-deployment-scaler.ts';
import { ManagementCluster } from '../../src/cloud/cluster-api/management-cluster.ts';
import { NODE_CLASS_KIND } from '../../src/cloud/cluster-api/node-class-kind.ts';
import { LABEL_CLAIM_UID } from '../../src/cloud/cluster-api/own-names.ts';
import { AwsInstances } from '../../src/cloud/cluster-api/provider/aws/aws-instances.ts';
import { openProvider } from '../../src/cloud/cluster-api/provider/open-provider.ts';
import { ReplicaSettler } from '../../src/cloud/cluster-api/replica-settler.ts';
import { SelectedDeployments } from '../../src/cloud/cluster-api/selected-deployments.ts';
import { aReadyNodeClass } from '../../src/cloud/testkit/opened-clouds.ts';
import { ApiServer } from '../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../src/embedded/in-memory-client.ts';
import { EventRecorder } from '../../src/kube/event-recorder.ts';
import { FaultyClient } from '../../src/kube/testkit/faulty-client.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';

const DEPLOYMENTS = 500;
const MACHINES_EACH = 10;
const KINDS = coreKinds('v1beta2');
const TYPES = ['m5.large', 'c5.xlarge', 'r5.2xlarge', 'm6i.large', 'c6i.2xlarge'];

const clock = new VirtualClock();
const random = seededRandom('bench');
const direct = new InMemoryClient(new ApiServer({ clock, random }));
let calls = 0;
const client = new FaultyClient({
  client: direct,
  clock,
  fault: () => {
    calls++;
    return undefined;
  },
});

for (const definition of openDefinitions(KINDS)) await direct.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
const templates = infrastructureKind('AWSMachineTemplate');
for (let index = 0; index < DEPLOYMENTS; index++) {
  const name = `md-${index}`;
  const metadata = { name, namespace: 'default' };
  const spec = { instanceType: TYPES[index % TYPES.length], ...(index % 2 === 0 && { spotMarketOptions: {} }) };
  await direct.create(templates, {
    apiVersion: `${INFRASTRUCTURE_GROUP}/v1beta2`,
    kind: templates.kind,
    metadata,
    ...{ spec: { template: { spec } } },
  });
  const infrastructureRef = { apiGroup: INFRASTRUCTURE_GROUP, kind: 'AWSMachineTemplate', name };
  await direct.create(KINDS.machineDeployments, {
    ...{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineDeployment', metadata },
    spec: {
      replicas: MACHINES_EACH,
      template: { spec: { failureDomain: `us-east-1${'abc'[index % 3]}`, infrastructureRef } },
    },
  });
  for (let serial = 0; serial < MACHINES_EACH; serial++) {
    const labels = { [LABEL_DEPLOYMENT_NAME]: name, [LABEL_CLAIM_UID]: `${name}-${serial}` };
    await direct.create(KINDS.machines, {
      ...{
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Machine',
        metadata: { name: `${name}-${serial}`, namespace: 'default', labels },
      },
      spec: { providerID: `aws:///us-east-1a/i-${index}-${serial}`, infrastructureRef },
    });
  }
}

const stop = new AbortController();
const { signal } = stop;
const management = new ManagementCluster({ client, kinds: KINDS, clock, random });
const infrastructure = new InfrastructureObjects({ client, clock });
const selected = new SelectedDeployments({ management, infrastructure, findShape: knownShapes() });
const scaler = new MachineDeploymentScaler({ client, kinds: KINDS, clock, claimExists: () => true, graceMs: 300_000 });
const driver = new ClusterApiDriver({ clock, management, infrastructure, selected, scaler });
const nodeClass = aReadyNodeClass({ nodeClass: NODE_CLASS_KIND as never }, 'fleet', { scalableResourceSelector: {} });
const settler = new ReplicaSettler({
  clock,
  logger: SILENT_LOGGER,
  management,
  scaler,
  nodeClasses: { list: () => [nodeClass] } as never,
  claimExists: () => true,
});

globalThis.gc?.();
const before = process.memoryUsage().heapUsed;
async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  calls = 0;
  const start = performance.now();
  await clock.run(work());
  console.log(
    `${what.padEnd(44)} ${(performance.now() - start).toFixed(0).padStart(6)} ms ${String(calls).padStart(5)} calls`,
  );
}

const running = management.run(signal);
await measure('fill the caches', () => Promise.all([management.deployments(signal), management.machines(signal)]));
await measure('catalogue, first', () => driver.catalogue(nodeClass, signal));
await measure('catalogue, again', () => driver.catalogue(nodeClass, signal));
await measure('list 5,000 machines', () => driver.list('cluster-api', signal));
const round = new AbortController();
await measure('settle: a look at everything, nothing to do', async () => {
  const looked = settler.run(round.signal);
  await clock.sleep(1000);
  round.abort();
  await looked;
});
const claim = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'c', uid: 'new' },
  spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'fleet' }, requirements: [], expireAfter: 'Never' },
};
const offerings = [{ instanceType: 'm5.large', zone: 'us-east-1a', capacityType: 'spot' as const, price: 1 }];
await measure('launch: one replica more', () =>
  driver.launch({ claim: claim as never, nodeClass, offerings, attempt: 0, takeSlot: () => true }, signal),
);
// The client in memory shares its objects with the server; a client over a network has copies of its own.
globalThis.gc?.();
const shared = process.memoryUsage().heapUsed;
const copies = structuredClone([...management.machineCache.list(), ...management.deploymentCache.list()]);
globalThis.gc?.();
const copied = process.memoryUsage().heapUsed - shared;
console.log(`copies of ${copies.length} cached objects: ${(copied / 1024 / 1024).toFixed(0)} MiB`);

await measureProvider();

globalThis.gc?.();
console.log(`caches and descriptions: ${((process.memoryUsage().heapUsed - before) / 1024 / 1024).toFixed(0)} MiB`);
stop.abort();
await clock.advance(1000);
await running;

/** Whole mode: ten minutes of 5,000 AWSMachines whose instances run, and to whom nothing happens. */
async function measureProvider(): Promise<void> {
  const machines = infrastructureKind('AWSMachine') as Resource<InfrastructureObject>;
  const group = INFRASTRUCTURE_GROUP;
  const clusters = infrastructureKind('AWSCluster');
  const network = { subnets: [{ id: 'subnet-1', availabilityZone: 'us-east-1a' }] };
  await direct.create(clusters, object(clusters, 'fleet', { region: 'us-east-1', network }));
  const infrastructureRef = { apiGroup: group, kind: 'AWSCluster', name: 'fleet' };
  await direct.create(KINDS.clusters, object(KINDS.clusters, 'fleet', { infrastructureRef }));
  for (const { metadata, spec } of management.machineCache.list()) {
    const made = object(machines, metadata.name ?? '', { instanceType: 'm5.large', providerID: spec?.providerID });
    const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: metadata.name ?? '', uid: '1' };
    const labels = { [LABEL_CLUSTER_NAME]: 'fleet' };
    await direct.create(machines, { ...made, metadata: { ...made.metadata, labels, ownerReferences: [owner] } });
  }
  let ec2Calls = 0;
  const api = {
    call: async (_operation: string, { InstanceIds = [] }: { InstanceIds?: string[] }) => {
      ec2Calls++;
      const Instances = InstanceIds.map((InstanceId) => ({
        ...{ InstanceId, State: { Name: 'running' }, Placement: { AvailabilityZone: 'us-east-1a' } },
      }));
      return { Reservations: [{ Instances }] };
    },
  } as unknown as AwsApi;
  const recorder = new EventRecorder({ client, clock, random, component: 'bench' });
  const controllers = await openProvider(
    {
      ...{ client, clock, random, logger: SILENT_LOGGER, recorder, management, infrastructure },
      ...{ findShape: knownShapes(), clouds: [new AwsInstances(clock, () => api)] },
    },
    signal,
  );
  const life = new AbortController();
  const lives = controllers.map((controller) => controller.run(life.signal));
  await measure('whole mode: first look at 5,000 machines', () => clock.sleep(30_000));
  const firstCalls = ec2Calls;
  await measure('whole mode: ten minutes, nothing to do', () => clock.sleep(600_000));
  console.log(`calls to EC2: ${firstCalls}, then ${ec2Calls - firstCalls} in ten minutes`);
  life.abort();
  await clock.advance(1000);
  await Promise.allSettled(lives);
}

function object(kind: Resource, name: string, spec: object): KubeObject {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata, ...{ spec } } as KubeObject;
}
