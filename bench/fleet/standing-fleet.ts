/** A fleet that stands, in memory: claims, nodes and pods as they are when all is up, and the simulated cloud they came from. */

import { DEFINITIONS } from '../../src/apis/custom-resource-definitions.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePoolSpec } from '../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import type { Cloud, NoticeSource } from '../../src/cloud/cloud.ts';
import { instanceOfClaim } from '../../src/cloud/simulated/instance-of-claim.ts';
import { SimulatedCloud } from '../../src/cloud/simulated/simulated-cloud.ts';
import { SimulatedDriver } from '../../src/cloud/simulated/simulated-driver.ts';
import { parseProviderID, providerIDOf } from '../../src/cloud/simulated/simulated-instance.ts';
import { anAccount } from '../../src/cloud/simulated/testkit/small-account.ts';
import { openedClouds } from '../../src/cloud/testkit/opened-clouds.ts';
import { UnavailableOfferings } from '../../src/cloud/unavailable-offerings.ts';
import { ApiServer } from '../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../src/embedded/in-memory-client.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { toTimestamp } from '../../src/platform/clock.ts';
import { type Random, seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';

export interface StandingFleetOptions {
  readonly seed: string;
  readonly machines: number;
  /** The instance types of the small account that the machines take turns with. */
  readonly types: readonly ('small' | 'medium' | 'large')[];
  readonly podsPerNode: number;
  readonly podCpu: string;
  readonly disruption?: Partial<NodePoolSpec['disruption']>;
  /** Where notices come from, given the machines' IDs; the simulated cloud's own queue without it. */
  readonly source?: (clock: Clock, machines: ReadonlySet<string>) => Promise<NoticeSource | undefined>;
}

/** The name of the cluster, which its machines carry. */
export const CLUSTER = 'bench';
const ZONES = ['zone-a', 'zone-b'];
const CORES = { small: 2, medium: 4, large: 8 };
const LABELS = { 'karpenter.sh/nodepool': 'default', 'karpenter.sh/capacity-type': 'spot' };

/** The fleet, and the cloud it came from. */
export async function standingFleet(options: StandingFleetOptions) {
  const { clock, random, client, claims } = await standingCluster(options);
  const ids = new Set(claims.map(({ status }) => parseProviderID(status?.providerID ?? '')?.id ?? ''));
  const { cloud, clouds, unavailable } = await standingCloud(clock, random, await options.source?.(clock, ids));
  for (const claim of claims) {
    const instance = instanceOfClaim(claim, CLUSTER, clock.now());
    if (instance !== undefined) cloud.restore(instance);
  }
  const providerIDs = claims.map(({ status }) => status?.providerID ?? '');
  return { clock, random, client, cloud, clouds, unavailable, providerIDs };
}

/** A cloud that sells what the fleet consists of, and knows nothing of it yet. */
export async function standingCloud(clock: Clock, random: Random, source?: NoticeSource) {
  const cloud = new SimulatedCloud({ clock, random });
  cloud.configure('default', anAccount());
  const unavailable = new UnavailableOfferings({ clock });
  const driver: Cloud = new SimulatedDriver({ clock, cloud, cluster: CLUSTER });
  if (source !== undefined) Object.defineProperty(driver, 'noticeSources', { value: [source] });
  return { cloud, clouds: await openedClouds({ cloud: driver, clock, unavailable }), unavailable };
}

/** The fleet in an API server. */
export async function standingCluster(options: StandingFleetOptions) {
  const { seed, machines, types, podsPerNode, podCpu, disruption } = options;
  const clock = new RealClock();
  const random = seededRandom(seed);
  const server = new ApiServer({ clock, random, rememberedEvents: 1000 });
  const client = new InMemoryClient(server);
  for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
  const { limits: _, ...spec } = DEFAULT_NODE_POOL.spec;
  await client.create(NODE_POOLS, {
    ...DEFAULT_NODE_POOL,
    spec: {
      ...spec,
      // Whatever the account sells, so that no node has drifted.
      template: { ...spec.template, spec: { ...spec.template.spec, requirements: [] } },
      disruption: { ...spec.disruption, ...disruption },
    },
  });
  const ready = [
    { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: toTimestamp(clock.now()) },
  ];
  const body = { status: { conditions: ready } };
  await client.patch(NODE_POOLS, { name: 'default' }, { type: 'merge', body }, { subresource: 'status' });
  const claims: NodeClaim[] = [];
  for (let index = 0; index < machines; index++) {
    const type = types[index % types.length] ?? 'small';
    claims.push(await launched(client, index, type, toTimestamp(clock.now())));
    for (let pod = 0; pod < podsPerNode; pod++)
      await client.create(PODS, runningPod(`pod-${index}-${pod}`, `node-${index}`, podCpu));
  }
  return { clock, random, server, client, claims };
}

/** A claim as it is when its node is up, with its node. */
async function launched(
  client: InMemoryClient,
  index: number,
  instanceType: keyof typeof CORES,
  at: string,
): Promise<NodeClaim> {
  const zone = ZONES[index % ZONES.length] ?? '';
  const labels = { ...LABELS, 'node.kubernetes.io/instance-type': instanceType, 'topology.kubernetes.io/zone': zone };
  const name = `node-${index}`;
  const providerID = providerIDOf('region-1', zone, `i-${String(index).padStart(17, '0')}`);
  const allocatable = { cpu: `${CORES[instanceType]}`, memory: '8Gi', pods: '110' };
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  await client.create(NODE_CLAIMS, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, labels, finalizers: ['karpenter.sh/termination'] },
    spec: { requirements: [], nodeClassRef },
  } as never);
  const conditions = ['Launched', 'Registered', 'Initialized', 'Ready'].map((type) => ({
    ...{ type, status: 'True', reason: type, message: '', lastTransitionTime: at },
  }));
  const status = { providerID, nodeName: name, allocatable, capacity: allocatable, conditions };
  const claim = await client.patch(
    NODE_CLAIMS,
    { name },
    { type: 'merge', body: { status } },
    { subresource: 'status' },
  );
  await client.create(NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...labels, 'karpenter.sh/registered': 'true', 'karpenter.sh/initialized': 'true' } },
    spec: { providerID },
    status: {
      allocatable,
      capacity: allocatable,
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', lastTransitionTime: at }],
    },
  } as never);
  return claim;
}

function runningPod(name: string, nodeName: string, cpu: string) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      labels: { app: 'bench' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'bench', uid: 'bench', controller: true }],
    },
    spec: {
      nodeName,
      containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu, memory: '128Mi' } } }],
    },
  };
}
