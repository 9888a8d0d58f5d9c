/** The driver on an embedded management cluster: the minimal core makes machines, a provider of ours gives them instances. */
import { coreKinds } from '../../../../src/apis/cluster-api/core-kinds.ts';
import type { MachineDeployment } from '../../../../src/apis/cluster-api/machine-deployment.ts';
import { INFRASTRUCTURE_GROUP, LABEL_CLUSTER_NAME } from '../../../../src/apis/cluster-api/names.ts';
import type { KubeObject, Resource } from '../../../../src/apis/kubernetes/object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../../src/apis/schema/custom-resource-definition.ts';
import { type CloudUnderTest, describeCloud, type Trouble } from '../../../../src/cloud/cloud.conformance.ts';
import { ClusterApiDriver } from '../../../../src/cloud/cluster-api/cluster-api-driver.ts';
import { MinimalCore } from '../../../../src/cloud/cluster-api/core/minimal-core.ts';
import {
  infrastructureKind,
  infrastructureVersion,
  openDefinitions,
} from '../../../../src/cloud/cluster-api/core/open-definitions.ts';
import {
  type InfrastructureObject,
  InfrastructureObjects,
} from '../../../../src/cloud/cluster-api/infrastructure-objects.ts';
import { knownShapes } from '../../../../src/cloud/cluster-api/known-shapes.ts';
import { MachineDeploymentScaler } from '../../../../src/cloud/cluster-api/machine-deployment-scaler.ts';
import { ManagementCluster } from '../../../../src/cloud/cluster-api/management-cluster.ts';
import { NODE_CLASS_KIND } from '../../../../src/cloud/cluster-api/node-class-kind.ts';
import { SelectedDeployments } from '../../../../src/cloud/cluster-api/selected-deployments.ts';
import { StandInProvider } from '../../../../src/cloud/cluster-api/testkit/stand-in-provider.ts';
import { aReadyNodeClass } from '../../../../src/cloud/testkit/opened-clouds.ts';
import { ApiServer } from '../../../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../../../src/embedded/in-memory-client.ts';
import type { RankedOffering } from '../../../../src/engine/solution.ts';
import { KubeError } from '../../../../src/kube/kube-error.ts';
import { type Fault, FaultyClient } from '../../../../src/kube/testkit/faulty-client.ts';
import { seededRandom } from '../../../../src/platform/random.ts';
import { VirtualClock } from '../../../../src/platform/virtual-clock.ts';

const KINDS = coreKinds('v1beta2');
const refused = (code: number): Fault => ({
  kind: 'refused',
  error: new KubeError({ apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', code, message: `${code}` }),
});
const FAULTS: Readonly<Partial<Record<Trouble, (verb: string) => Fault | undefined>>> = {
  hang: (verb) => (verb === 'patch' ? { kind: 'hangs' } : undefined),
  throttled: () => refused(429),
  denied: (verb) => (verb === 'patch' ? refused(403) : undefined),
  'server-error': () => refused(500),
};

describeCloud('cluster-api', async (): Promise<CloudUnderTest> => {
  const clock = new VirtualClock();
  const random = seededRandom('cluster-api-conformance');
  const server = new ApiServer({ clock, random });
  const direct = new InMemoryClient(server);
  for (const definition of openDefinitions(KINDS)) await direct.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  const pools = [
    { name: 'spot-a', zone: 'us-east-1a', spot: true },
    { name: 'spot-b', zone: 'us-east-1b', spot: true },
    { name: 'od-a', zone: 'us-east-1a', spot: false },
  ];
  for (const { name, zone, spot } of pools) {
    const kind = infrastructureKind('AWSMachineTemplate');
    const spec = { instanceType: 'm5.large', ...(spot && { spotMarketOptions: {} }) };
    await direct.create(kind, {
      apiVersion: `${INFRASTRUCTURE_GROUP}/v1beta2`,
      kind: kind.kind,
      metadata: { name, namespace: 'default' },
      ...{ spec: { template: { spec } } },
    } as KubeObject);
    await direct.create(KINDS.machineDeployments, deploymentOf(name, zone));
  }
  const exhausted = new Set<string>();
  const kind = infrastructureKind('AWSMachine') as Resource<InfrastructureObject>;
  const provider = new StandInProvider({
    ...{ client: direct, clock, random, kind, startMs: [5_000, 20_000] },
    refusal: ({ metadata }) =>
      [...exhausted].some((pool) => metadata.name?.startsWith(`${pool}-`))
        ? 'InsufficientInstanceCapacity: none left'
        : undefined,
    providerID: ({ metadata }) => `aws:///us-east-1a/i-${metadata.uid?.replaceAll('-', '').slice(0, 17)}`,
  });
  const core = new MinimalCore({ client: direct, kinds: KINDS, clock, random, infrastructureVersion });
  const stop = new AbortController();
  const running = [core.run(stop.signal), provider.run(stop.signal)];
  let trouble: Trouble | undefined;
  const client = new FaultyClient({
    client: direct,
    clock,
    fault: (verb) => (trouble === undefined ? undefined : FAULTS[trouble]?.(verb)),
  });
  const nodeClass = aReadyNodeClass({ nodeClass: NODE_CLASS_KIND as never }, 'fleet', { scalableResourceSelector: {} });
  const offering = (zone: string, capacityType: 'spot' | 'on-demand', price: number): RankedOffering => ({
    instanceType: 'm5.large',
    zone,
    capacityType,
    price,
  });
  const spotPrice = knownShapes()('aws', 'm5.large', undefined)?.spot ?? 0;
  return {
    clock,
    driver: () => {
      const management = new ManagementCluster({ client, kinds: KINDS, clock, random });
      const infrastructure = new InfrastructureObjects({ client, clock });
      const selected = new SelectedDeployments({ management, infrastructure, findShape: knownShapes() });
      const scaler = new MachineDeploymentScaler({
        client,
        kinds: KINDS,
        clock,
        claimExists: () => true,
        graceMs: 300_000,
      });
      return new ClusterApiDriver({ clock, management, infrastructure, selected, scaler });
    },
    nodeClass,
    offerings: [
      offering('us-east-1a', 'spot', spotPrice),
      offering('us-east-1b', 'spot', spotPrice),
      offering('us-east-1a', 'on-demand', 0.096),
    ],
    launches: () => provider.launches,
    leftovers: () => server.world.store.collection('machines.cluster.x-k8s.io').size,
    exhaust: ({ zone, capacityType }) =>
      void exhausted.add(`${capacityType === 'spot' ? 'spot' : 'od'}-${zone.at(-1)}`),
    trouble: (next) => {
      trouble = next;
    },
    without: ['lost-answer', 'quota'],
    settle: (promise) => clock.run(promise),
    pass: (milliseconds) => clock.advance(milliseconds),
    close: async () => {
      stop.abort();
      await clock.advance(60_000);
      await Promise.allSettled(running);
    },
  };
});

function deploymentOf(name: string, failureDomain: string): MachineDeployment {
  const labels = { [LABEL_CLUSTER_NAME]: 'fleet' };
  const infrastructureRef = { apiGroup: INFRASTRUCTURE_GROUP, kind: 'AWSMachineTemplate', name };
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { name, namespace: 'default', labels },
    spec: {
      clusterName: 'fleet',
      replicas: 0,
      template: {
        metadata: { labels },
        spec: { clusterName: 'fleet', failureDomain, bootstrap: { dataSecretName: 'join' }, infrastructureRef },
      },
    },
  };
}
