/** 500 MachineDeployments with 5,000 machines: how long the driver takes to read and settle them, with how many calls and how much memory. */
import { coreKinds } from '../../src/apis/cluster-api/core-kinds.ts';
import { INFRASTRUCTURE_GROUP, LABEL_DEPLOYMENT_NAME } from '../../src/apis/cluster-api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import { ClusterApiDriver } from '../../src/cloud/cluster-api/cluster-api-driver.ts';
import { infrastructureKind, openDefinitions } from '../../src/cloud/cluster-api/core/open-definitions.ts';
import { InfrastructureObjects } from '../../src/cloud/cluster-api/infrastructure-objects.ts';
import { knownShapes } from '../../src/cloud/cluster-api/known-shapes.ts';
import { MachineDeploymentScaler } from '../../src/cloud/cluster-api/machine-deployment-scaler.ts';
import { ManagementCluster } from '../../src/cloud/cluster-api/management-cluster.ts';
import { NODE_CLASS_KIND } from '../../src/cloud/cluster-api/node-class-kind.ts';
import { LABEL_CLAIM_UID } from '../../src/cloud/cluster-api/own-names.ts';
import { ReplicaSettler } from '../../src/cloud/cluster-api/replica-settler.ts';
import { SelectedDeployments } from '../../src/cloud/cluster-api/selected-deployments.ts';
import { aReadyNodeClass } from '../../src/cloud/testkit/opened-clouds.ts';
import { ApiServer } from '../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../src/embedded/in-memory-client.ts';
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
globalThis.gc?.();
console.log(`caches and descriptions: ${((process.memoryUsage().heapUsed - before) / 1024 / 1024).toFixed(0)} MiB`);
stop.abort();
await clock.advance(1000);
await running;
