/**
 * A fleet whose machines are all taken back in the same moment: claims, nodes and pods in memory, the simulated cloud and
 * its message queue, and of our controllers those that answer notices and find places for pods.
 */
import { DEFINITIONS } from '../../src/apis/custom-resource-definitions.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { NODES, type Node } from '../../src/apis/kubernetes/node.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import { ANNOTATION_INTERRUPTION } from '../../src/apis/spindrift/annotations.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import type { Notice } from '../../src/cloud/notice.ts';
import { Reservations } from '../../src/cloud/reservations.ts';
import { instanceOfClaim } from '../../src/cloud/simulated/instance-of-claim.ts';
import { SimulatedCloud } from '../../src/cloud/simulated/simulated-cloud.ts';
import { providerIDOf } from '../../src/cloud/simulated/simulated-instance.ts';
import { SimulatedProvider } from '../../src/cloud/simulated/simulated-provider.ts';
import { anAccount } from '../../src/cloud/simulated/testkit/small-account.ts';
import { UnavailableOfferings } from '../../src/cloud/unavailable-offerings.ts';
import { Interruption } from '../../src/controllers/interruption/interruption.ts';
import { DisruptionBudgets } from '../../src/controllers/node/termination/disruption-budgets.ts';
import { DrainPlans } from '../../src/controllers/node/termination/drain-plans.ts';
import { OwnWrites } from '../../src/controllers/own-writes.ts';
import { DecisionLog } from '../../src/controllers/provisioning/decision-log.ts';
import { Provisioner } from '../../src/controllers/provisioning/provisioner.ts';
import { RiskKeeper } from '../../src/controllers/spot-policy/risk-keeper.ts';
import { SpotPlanning } from '../../src/controllers/spot-policy/spot-planning.ts';
import { SpotPolicies } from '../../src/controllers/spot-policy/spot-policies.ts';
import { ApiServer } from '../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../src/embedded/in-memory-client.ts';
import { EventRecorder } from '../../src/kube/event-recorder.ts';
import { toTimestamp } from '../../src/platform/clock.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { Metrics } from '../../src/platform/metrics.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { ClusterInformers } from '../../src/state/cluster-informers.ts';
import { ClusterState } from '../../src/state/cluster-state.ts';
import { Nominations } from '../../src/state/nominations.ts';

/** What was measured; times in seconds from the moment the cloud sent the notices. */
export interface StormResult {
  /** Every notice was matched to its claim, written on it, and acknowledged; places for the pods were asked for. */
  readonly handled: number;
  /** Processor time of that: what it would have been on a machine with nothing else to do. */
  readonly handledCpu: number;
  /** Every node was closed to new pods as well. */
  readonly closed: number;
  /** The round that finds places for all pods had written its claims; undefined without pods. */
  readonly covered: number | undefined;
  readonly claims: number;
  /** Memory of the whole process, with the cluster in it, in MB. */
  readonly memoryBefore: number;
  readonly memoryAfter: number;
  readonly memoryPeak: number;
  /** The longest time the event loop was blocked, in ms. */
  readonly longestBlock: number;
}

const ZONES = ['zone-a', 'zone-b'];
const TYPES = ['small', 'medium', 'large'];
const LABELS = { 'karpenter.sh/nodepool': 'default', 'karpenter.sh/capacity-type': 'spot' };
const NOTICE_MS = 120_000;

export async function noticeStorm(machines: number, podsPerNode: number): Promise<StormResult> {
  const clock = new RealClock();
  const random = seededRandom('notices');
  const metrics = new Metrics();
  const client = new InMemoryClient(new ApiServer({ clock, random, rememberedEvents: 1000 }));
  const cloud = new SimulatedCloud({ clock, random });
  cloud.configure('default', anAccount());
  const provider = new SimulatedProvider({
    clock,
    cloud,
    cluster: 'bench',
    unavailable: new UnavailableOfferings({ clock }),
    reservations: new Reservations({ clock }),
  });
  for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
  const { limits: _, ...spec } = DEFAULT_NODE_POOL.spec;
  await client.create(NODE_POOLS, { ...DEFAULT_NODE_POOL, spec });
  const ready = [
    { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: toTimestamp(clock.now()) },
  ];
  const key = { name: 'default' };
  await client.patch(
    NODE_POOLS,
    key,
    { type: 'merge', body: { status: { conditions: ready } } },
    { subresource: 'status' },
  );
  const providerIDs: string[] = [];
  for (let index = 0; index < machines; index++) {
    const claim = await launched(client, index, toTimestamp(clock.now()));
    const instance = instanceOfClaim(claim, 'bench', clock.now());
    if (instance !== undefined) cloud.restore(instance);
    providerIDs.push(claim.status?.providerID ?? '');
    for (let pod = 0; pod < podsPerNode; pod++)
      await client.create(PODS, runningPod(`pod-${index}-${pod}`, `node-${index}`));
  }

  const informers = new ClusterInformers({ client, clock, random, nodeClasses: [SIMULATED_NODE_CLASSES] });
  const state = new ClusterState(informers);
  const recorder = new EventRecorder({ client, clock, random, component: 'karpenter' });
  const writes = new OwnWrites(client, informers);
  const shared = { client, clock, random, logger: SILENT_LOGGER, metrics, recorder, state, provider, writes };
  const nominations = new Nominations({ clock, pods: informers.pods });
  const risk = new RiskKeeper(shared);
  const spot = new SpotPlanning({ policies: new SpotPolicies(informers), risk });
  const provisioner = new Provisioner({ ...shared, decisions: new DecisionLog(), nominations, spot });
  const plans = new DrainPlans({ clock, state, budgets: new DisruptionBudgets(informers.disruptionBudgets) });
  const recordNotice = (notice: Notice, claim: NodeClaim): void => void risk.recordNotice(notice, claim);
  const interruption = new Interruption({ ...shared, nominations, plans, provisioner, recordNotice });
  const stop = new AbortController();
  const running = [informers, provisioner, interruption].map((part) => part.run(stop.signal));
  await informers.synced(stop.signal);

  let covered: number | undefined;
  const memoryBefore = megabytes();
  const cpuStart = process.threadCpuUsage();
  const start = performance.now();
  const since = (): number => (performance.now() - start) / 1000;
  provisioner.rounds.onEnd(() => {
    const taken = informers.nodeClaims.list().filter(({ metadata }) => metadata.name?.startsWith('node-'));
    const all = taken.every(({ metadata }) => provisioner.rounds.covers(metadata.uid ?? ''));
    if (all) covered ??= since();
  });
  const block = watchBlocking();
  for (const providerID of providerIDs) cloud.interrupt(providerID, NOTICE_MS);
  const until = async (done: () => Promise<boolean>): Promise<number> => {
    while (!(await done())) await clock.sleep(10);
    return since();
  };
  const handled = await until(
    async () => (await metrics.read('karpenter_interruption_deleted_messages_total')) === machines,
  );
  const cpu = process.threadCpuUsage(cpuStart);
  const written = informers.nodeClaims.list().filter(({ metadata }) => metadata.annotations?.[ANNOTATION_INTERRUPTION]);
  if (written.length !== machines)
    throw new Error(`${written.length} of ${machines} claims know that their machine goes`);
  const closed = await until(async () => podsPerNode === 0 || informers.nodes.list().every(isClosed));
  if (podsPerNode > 0) await until(async () => covered !== undefined);
  const result = {
    handled,
    handledCpu: (cpu.user + cpu.system) / 1e6,
    closed,
    covered,
    claims: (await client.list(NODE_CLAIMS)).items.length - machines,
    memoryBefore,
    memoryAfter: megabytes(),
    memoryPeak: process.resourceUsage().maxRSS / 1024,
    longestBlock: block.end(),
  };
  stop.abort(new Error('the end'));
  await Promise.all(running);
  return result;
}

function isClosed({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === 'karpenter.sh/disrupted');
}

/** A claim as it is when its node is up, with its node. */
async function launched(client: InMemoryClient, index: number, at: string): Promise<NodeClaim> {
  const instanceType = TYPES[index % TYPES.length] ?? '';
  const zone = ZONES[index % ZONES.length] ?? '';
  const labels = { ...LABELS, 'node.kubernetes.io/instance-type': instanceType, 'topology.kubernetes.io/zone': zone };
  const name = `node-${index}`;
  const providerID = providerIDOf('region-1', zone, `i-${String(index).padStart(17, '0')}`);
  const allocatable = { cpu: `${2 ** (1 + (index % 3))}`, memory: '8Gi', pods: '110' };
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
    status: { allocatable, capacity: allocatable },
  } as never);
  return claim;
}

function runningPod(name: string, nodeName: string) {
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
      containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '500m', memory: '512Mi' } } }],
    },
  };
}

function megabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss / 2 ** 20;
}

/** Looks how long the event loop does nothing else at a time. */
function watchBlocking(): { end(): number } {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  return {
    end: () => {
      clearInterval(timer);
      return longest;
    },
  };
}
