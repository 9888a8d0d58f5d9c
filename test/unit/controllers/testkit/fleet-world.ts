/** A cluster in virtual time with a simulated cloud, and our controllers as a process that can be killed. */
import { DEFINITIONS } from '../../../../src/apis/custom-resource-definitions.ts';
import { conditionOf } from '../../../../src/apis/karpenter/conditions.ts';
import { NODE_CLAIMS, type NodeClaim, type NodeClaimSpec } from '../../../../src/apis/karpenter/node-claim.ts';
import { EVENTS } from '../../../../src/apis/kubernetes/event.ts';
import { NODES, type Node } from '../../../../src/apis/kubernetes/node.ts';
import type { Condition, KubeObject } from '../../../../src/apis/kubernetes/object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../../src/apis/schema/custom-resource-definition.ts';
import { SIMULATED_NODE_CLASSES } from '../../../../src/apis/spindrift/simulated-node-class.ts';
import { enabledClouds } from '../../../../src/app/enabled-clouds.ts';
import type { AccountSettings } from '../../../../src/cloud/simulated/account-settings.ts';
import { PartSweeper } from '../../../../src/cloud/simulated/dialects/part-sweeper.ts';
import { CLOUD_LABELS, TAG_CLAIM_UID } from '../../../../src/cloud/simulated/labels.ts';
import { Machines } from '../../../../src/cloud/simulated/machines.ts';
import { NODE_CLASS_KIND } from '../../../../src/cloud/simulated/node-class-kind.ts';
import { SimulatedCloud } from '../../../../src/cloud/simulated/simulated-cloud.ts';
import { SimulatedDriver } from '../../../../src/cloud/simulated/simulated-driver.ts';
import { anAccount } from '../../../../src/cloud/simulated/testkit/small-account.ts';
import { UnavailableOfferings } from '../../../../src/cloud/unavailable-offerings.ts';
import { type AllControllersOptions, allControllers } from '../../../../src/controllers/all.ts';
import { lastingParts } from '../../../../src/controllers/lasting-parts.ts';
import { DecisionLog } from '../../../../src/controllers/provisioning/decision-log.ts';
import { SpotPolicies } from '../../../../src/controllers/spot-policy/spot-policies.ts';
import { EmbeddedCluster } from '../../../../src/embedded/cluster.ts';
import type { KubeClient } from '../../../../src/kube/client.ts';
import { EventRecorder } from '../../../../src/kube/event-recorder.ts';
import { Informer } from '../../../../src/kube/informer.ts';
import { toTimestamp } from '../../../../src/platform/clock.ts';
import { hasCode } from '../../../../src/platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../../../../src/platform/logger.ts';
import { Metrics } from '../../../../src/platform/metrics.ts';
import { type Random, seededRandom } from '../../../../src/platform/random.ts';
import { VirtualClock } from '../../../../src/platform/virtual-clock.ts';
import { ClusterInformers } from '../../../../src/state/cluster-informers.ts';
import { ClusterState } from '../../../../src/state/cluster-state.ts';
import { BusyClock } from './busy-clock.ts';

export interface FleetWorldOptions {
  readonly seed?: string;
  readonly account?: Partial<AccountSettings>;
  readonly logger?: Logger;
  /** For tests over days: heartbeats are rare, and nodes count as lost later. */
  readonly slowHeartbeats?: boolean;
  /** How long each yield to the event loop takes: the process decides slowly. */
  readonly turnMs?: number;
  /** Wraps the controllers' client of the API server. */
  readonly through?: (client: KubeClient, clock: VirtualClock) => KubeClient;
  readonly controllers?: Pick<
    AllControllersOptions,
    'limits' | 'provisioning' | 'consolidation' | 'notices' | 'podDeletionCost'
  >;
}

export class FleetWorld {
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly cluster: EmbeddedCluster;
  readonly client: KubeClient;
  readonly cloud: SimulatedCloud;
  /** All instances ever launched, by the UID of their claim. */
  readonly launched = new Map<string, Set<string>>();
  metrics = new Metrics();
  readonly #options: FleetWorldOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  #process: { readonly stop: AbortController; readonly ended: Promise<unknown> } | undefined;

  constructor(options: FleetWorldOptions) {
    this.#options = options;
    this.random = seededRandom(options.seed ?? 'fleet');
    const slow = { leaseRenewMs: 600_000, nodeTimes: { graceMs: 1_500_000 } };
    this.cluster = new EmbeddedCluster({
      clock: this.clock,
      random: this.random,
      ...(options.slowHeartbeats === true ? slow : {}),
    });
    this.client = this.cluster.client;
    this.cloud = new SimulatedCloud({ clock: this.clock, random: this.random });
    this.cloud.fleet.onChange(({ tags, id }) => {
      const claim = tags[TAG_CLAIM_UID] ?? '';
      this.launched.set(claim, (this.launched.get(claim) ?? new Set()).add(id));
    });
  }

  static async start(options: FleetWorldOptions = {}): Promise<FleetWorld> {
    const world = new FleetWorld(options);
    const { client, clock, random, cloud, cluster } = world;
    for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    await world.addNodeClass('default', options.account);
    const nodes = new Informer<Node>({ client, clock, random, kind: NODES });
    const claims = new Informer<NodeClaim>({ client, clock, random, kind: NODE_CLAIMS });
    const powerOff = (name: string): void => cluster.kubelets.kill(name);
    const machines = new Machines({ client, clock, cloud, nodes, claims, cluster: 'test', powerOff });
    for (const part of [cluster, nodes, claims, machines]) world.#running.push(part.run(world.#stop.signal));
    world.startControllers();
    await clock.advance(100);
    return world;
  }

  /** Opens another account in the cloud, with its node class. */
  async addNodeClass(name: string, account: Partial<AccountSettings> = {}): Promise<void> {
    this.cloud.configure(name, anAccount(account));
    const nodeClass = { apiVersion: 'spindrift.dev/v1alpha1', kind: 'SimulatedNodeClass', metadata: { name } };
    const { metadata } = await this.client.create(SIMULATED_NODE_CLASSES, nodeClass as never);
    // Written by the cloud's own controller otherwise, which does not run here.
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'Ready',
      message: '',
      observedGeneration: metadata.generation,
    };
    const body = { status: { conditions: [{ ...ready, lastTransitionTime: toTimestamp(this.clock.now()) }] } };
    await this.client.patch(SIMULATED_NODE_CLASSES, { name }, { type: 'merge', body }, { subresource: 'status' });
  }

  /** Starts our process without any memory. */
  startControllers(): void {
    const { cloud } = this;
    const { through = (client) => client, logger = SILENT_LOGGER, controllers = {}, turnMs = 0 } = this.#options;
    const clock = turnMs > 0 ? new BusyClock(this.clock, turnMs) : this.clock;
    const client = through(this.client, this.clock);
    const random = this.random.split(`process-${clock.now()}`);
    this.metrics = new Metrics();
    const { metrics } = this;
    const informers = new ClusterInformers({ client, clock, random, nodeClasses: [SIMULATED_NODE_CLASSES] });
    const policies = new SpotPolicies(informers);
    const unavailable = new UnavailableOfferings({ clock, ttlMs: (pool = '') => policies.for(pool).unavailableForMs });
    const recorder = new EventRecorder({ client, clock, random, component: 'karpenter' });
    const world = { client, clock, random, logger, metrics, recorder, cluster: 'test' };
    const sweeper = new PartSweeper({ cloud, clock, logger });
    const open = async () => new SimulatedDriver({ clock, cloud, cluster: 'test', controllers: [sweeper] });
    const loaded = { name: 'simulated', nodeClass: NODE_CLASS_KIND, labels: CLOUD_LABELS, open };
    const clouds = enabledClouds([loaded], { ...world, informers, unavailable });
    const state = new ClusterState(informers, (claim) => clouds.isOurs(claim));
    const shared = { client, clock, random, logger, metrics, recorder, state, clouds };
    const stop = new AbortController();
    const decisions = new DecisionLog();
    const provisioning = { solveSteps: 200_000 };
    const lasting = lastingParts({ ...shared, unavailable });
    const settings = { decisions, lasting, policies, provisioning, ...controllers };
    const parts = allControllers({ ...shared, ...settings });
    // As in the real program: with incomplete caches, it would launch what already exists.
    const acting = informers.synced(stop.signal).then(
      () => Promise.all([clouds.runControllers(stop.signal), ...parts.map((part) => part.run(stop.signal))]),
      () => [],
    );
    const opening = clouds.run(stop.signal).catch(() => {});
    this.#process = { stop, ended: Promise.all([informers.run(stop.signal), opening, acting]) };
  }

  /** Kills our process at any point. */
  async killControllers(): Promise<void> {
    this.#process?.stop.abort(new Error('killed'));
    await this.clock.run(this.#process?.ended ?? Promise.resolve(), 'the end of the controllers');
    this.#process = undefined;
  }

  async end(): Promise<void> {
    await this.killControllers();
    this.#stop.abort(new Error('the end'));
    await this.clock.run(Promise.all(this.#running), 'the end of the world');
  }

  async claim(name: string): Promise<NodeClaim | undefined> {
    return this.client.get(NODE_CLAIMS, { name }).catch(absent);
  }

  async node(name: string): Promise<Node | undefined> {
    return this.client.get(NODES, { name }).catch(absent);
  }

  async condition(claim: string, type: string): Promise<Condition | undefined> {
    const found = await this.claim(claim);
    return found && conditionOf(found, type);
  }

  /** The reasons of the events about an object, with the last message of each. */
  async events(about: string): Promise<Readonly<Record<string, string>>> {
    const { items } = await this.client.list(EVENTS);
    const ours = items.filter(
      ({ involvedObject, reportingComponent }) => involvedObject.name === about && reportingComponent === 'karpenter',
    );
    return Object.fromEntries(ours.map(({ reason, message }) => [reason, message ?? '']));
  }

  /** Aborts when the world ends. */
  get lifetime(): AbortSignal {
    return this.#stop.signal;
  }

  /** The number of machines. */
  get instances(): number {
    return [...this.cloud.fleet.list()].length;
  }
}

/** A claim as a user writes it. */
export function aClaim(
  name: string,
  spec: Partial<NodeClaimSpec> = {},
  metadata: KubeObject['metadata'] = {},
): NodeClaim {
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, ...metadata, labels: { 'karpenter.sh/nodepool': 'general', ...metadata.labels } },
    spec: { requirements: [], nodeClassRef, resources: { requests: { cpu: '1', memory: '1Gi' } }, ...spec },
  } as NodeClaim;
}

function absent(error: unknown): undefined {
  if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
  return undefined;
}
