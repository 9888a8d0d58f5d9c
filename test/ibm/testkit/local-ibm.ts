/** The driver of IBM Cloud on the local server, without a network and on a virtual clock: one world, any number of processes. */
import {
  IBM_NODE_CLASS_CONDITIONS,
  type IBMNodeClass,
  type IBMNodeClassSpec,
} from '../../../src/apis/ibm/ibm-node-class.ts';
import { withConditions } from '../../../src/apis/karpenter/condition-changes.ts';
import type { NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../src/apis/kubernetes/core.ts';
import type { Node } from '../../../src/apis/kubernetes/node.ts';
import type { Cloud } from '../../../src/cloud/cloud.ts';
import type { CloudWorld } from '../../../src/cloud/cloud-module.ts';
import { AccountClient } from '../../../src/cloud/ibm/api/account-client.ts';
import { VpcClient } from '../../../src/cloud/ibm/api/vpc-client.ts';
import { resolveNodeClass } from '../../../src/cloud/ibm/node-class/resolve-node-class.ts';
import { openIbmCloud } from '../../../src/cloud/ibm/open-ibm-cloud.ts';
import { IBM_OPTIONS, type IbmOptions } from '../../../src/cloud/ibm/options.ts';
import { machineShape } from '../../../src/cloud/ibm/profiles/machine-shape.ts';
import { ApiServer } from '../../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../../src/embedded/in-memory-client.ts';
import type { RankedOffering } from '../../../src/engine/solution.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { EventRecorder } from '../../../src/kube/event-recorder.ts';
import { SILENT_LOGGER } from '../../../src/platform/logger.ts';
import { Metrics } from '../../../src/platform/metrics.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';
import { IbmServer, type IbmServerOptions } from '../server/ibm-server.ts';
import { type WirelessOptions, wireless } from './wireless.ts';

const NEVER = new AbortController().signal;

/** The default options, for the local server. */
export function localOptions(origin = 'http://ibm.test'): IbmOptions {
  const fallbacks = Object.fromEntries(Object.entries(IBM_OPTIONS).map(([name, option]) => [name, option.fallback]));
  return {
    ...(fallbacks as IbmOptions),
    ibmVpcUrl: `${origin}/v1`,
    ibmGlobalCatalogUrl: `${origin}/api/v1`,
    ibmGlobalTaggingUrl: origin,
    ibmResourceManagerUrl: origin,
    ibmIamUrl: origin,
    ibmClusterEndpoint: 'https://10.0.0.1:6443',
  };
}

export interface LocalIbmOptions extends Partial<Omit<IbmServerOptions, 'clock' | 'random'>> {
  readonly spec?: Partial<IBMNodeClassSpec>;
  readonly options?: Partial<IbmOptions>;
}

export interface LocalIbm {
  readonly clock: VirtualClock;
  readonly server: IbmServer;
  readonly client: KubeClient;
  readonly metrics: Metrics;
  readonly nodeClass: IBMNodeClass;
  /** The objects that informers show; tests change them. */
  readonly claims: NodeClaim[];
  readonly nodes: Node[];
  /** A driver without any memory, as after a restart. */
  driver(wire?: WirelessOptions): Promise<Cloud>;
}

/** A region with a cluster and a ready class. */
export async function localIbm({ spec = {}, options = {}, ...serverOptions }: LocalIbmOptions = {}): Promise<LocalIbm> {
  const clock = new VirtualClock();
  const random = seededRandom('local-ibm');
  const server = new IbmServer({ clock, random, ...serverOptions });
  const client = new InMemoryClient(new ApiServer({ clock, random: random.split('api') }));
  await prepareCluster(client);
  const nodeClass = await readyNodeClass(server, clock, spec);
  const claims: NodeClaim[] = [];
  const nodes: Node[] = [];
  const metrics = new Metrics();
  const informers = {
    nodeClasses: {
      list: () => [nodeClass],
      get: (name: string) => (name === nodeClass.metadata.name ? nodeClass : undefined),
    },
    nodeClaims: { list: () => claims },
    nodes: { list: () => nodes },
  };
  const recorder = new EventRecorder({ client, clock, random: random.split('events'), component: 'karpenter' });
  const world = {
    client,
    clock,
    random,
    logger: SILENT_LOGGER,
    metrics,
    recorder,
    cluster: 'demo',
    informers,
  } as unknown as CloudWorld;
  return {
    clock,
    server,
    client,
    metrics,
    nodeClass,
    claims,
    nodes,
    driver: (wire = {}) => openIbmCloud(world, { ...localOptions(), ...options }, wireless(server, wire)),
  };
}

/** Adds cluster facts that machines need and the embedded cluster lacks. */
export async function prepareCluster(client: KubeClient): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } };
  await client.create(NAMESPACES, namespace).catch(() => {});
  const data = { 'ca.crt': '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n' };
  const metadata = { name: 'kube-root-ca.crt', namespace: 'kube-system' };
  await client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }).catch(() => {});
}

/** A class spec that fits the region. */
export function classSpec(server: IbmServer, changes: Partial<IBMNodeClassSpec> = {}): IBMNodeClassSpec {
  const { network, images, keys, region, resourceGroups } = server.world;
  return {
    region,
    vpc: network.vpc.id,
    image: images[1]?.name ?? '',
    securityGroups: [network.securityGroups[1]?.id ?? ''],
    sshKeys: [keys[0]?.id ?? ''],
    resourceGroup: resourceGroups[0]?.name ?? '',
    bootstrapMode: 'auto',
    ...changes,
  };
}

async function readyNodeClass(
  server: IbmServer,
  clock: VirtualClock,
  changes: Partial<IBMNodeClassSpec>,
): Promise<IBMNodeClass> {
  const open = wireless(server);
  const vpc = new VpcClient({ service: open('http://ibm.test/v1'), clock, region: server.world.region });
  const account = new AccountClient({
    clock,
    tagging: open('http://ibm.test'),
    resourceManager: open('http://ibm.test'),
  });
  const shapes = (await vpc.listProfiles(NEVER)).flatMap((profile) => machineShape(profile) ?? []);
  const nodeClass: IBMNodeClass = {
    apiVersion: 'karpenter-ibm.sh/v1alpha1',
    kind: 'IBMNodeClass',
    metadata: { name: 'default', uid: 'uid-default', generation: 1 },
    spec: classSpec(server, changes),
  };
  const check = { vpc, account, shapes, machinesIn: () => 0 };
  const { conditions: found, status } = await resolveNodeClass(nodeClass, check, clock.now(), NEVER);
  const conditions = withConditions(IBM_NODE_CLASS_CONDITIONS, nodeClass, found, clock.now());
  return { ...nodeClass, status: { ...status, conditions } as NonNullable<IBMNodeClass['status']> };
}

/** An offering of a Flex machine. */
export function offering(
  instanceType: string,
  zone: string,
  capacityType: RankedOffering['capacityType'],
  price = 0.1,
): RankedOffering {
  return { instanceType, zone, capacityType, price };
}

let serial = 0;

/** A claim with its own UID. */
export function aClaim(changes: Partial<NodeClaim['metadata']> = {}): NodeClaim {
  const number = String(++serial).padStart(12, '0');
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name: `spot-${number}`,
      uid: `10000000-0000-4000-8000-${number}`,
      labels: { 'karpenter.sh/nodepool': 'spot' },
      ...changes,
    },
    spec: {
      nodeClassRef: { group: 'karpenter-ibm.sh', kind: 'IBMNodeClass', name: 'default' },
      requirements: [],
      expireAfter: '720h',
    },
  };
}
