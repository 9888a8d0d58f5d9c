/**
 * A cluster in virtual time without CAPA, CAPG or CAPZ: the minimal core makes Machines, Spindrift makes instances of a cloud on a server in
 * this process, instances that have power join as Nodes, and each Node has an agent that asks its metadata service.
 */
import { Agent } from '../../../../src/agent/agent.ts';
import { CLUSTER_API_NODE_CLASSES } from '../../../../src/apis/cluster-api/cluster-api-node-class.ts';
import { coreKinds } from '../../../../src/apis/cluster-api/core-kinds.ts';
import type { CoreMachine } from '../../../../src/apis/cluster-api/machine.ts';
import {
  ANNOTATION_MANAGED_BY,
  INFRASTRUCTURE_GROUP,
  LABEL_CLUSTER_NAME,
} from '../../../../src/apis/cluster-api/names.ts';
import { NODE_POOLS } from '../../../../src/apis/karpenter/node-pool.ts';
import { SECRETS } from '../../../../src/apis/kubernetes/core.ts';
import { EVENTS } from '../../../../src/apis/kubernetes/event.ts';
import type { KubeObject, Resource } from '../../../../src/apis/kubernetes/object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../../src/apis/schema/custom-resource-definition.ts';
import { Autoscaler } from '../../../../src/app/autoscaler.ts';
import { DEFAULT_NODE_POOL } from '../../../../src/app/default-pool.ts';
import { installDefinitions } from '../../../../src/app/install-definitions.ts';
import { MinimalCore } from '../../../../src/cloud/cluster-api/core/minimal-core.ts';
import {
  infrastructureKind,
  infrastructureVersion,
  openDefinitions,
} from '../../../../src/cloud/cluster-api/core/open-definitions.ts';
import type { InfrastructureObject } from '../../../../src/cloud/cluster-api/infrastructure-objects.ts';
import { loadClusterApi } from '../../../../src/cloud/cluster-api/module.ts';
import { EmbeddedCluster } from '../../../../src/embedded/cluster.ts';
import type { KubeClient } from '../../../../src/kube/client.ts';
import { EventRecorder } from '../../../../src/kube/event-recorder.ts';
import { type Fault, FaultyClient, type Verb } from '../../../../src/kube/testkit/faulty-client.ts';
import { SILENT_LOGGER } from '../../../../src/platform/logger.ts';
import { Metrics } from '../../../../src/platform/metrics.ts';
import { seededRandom } from '../../../../src/platform/random.ts';
import { VirtualClock } from '../../../../src/platform/virtual-clock.ts';
import { type NodeVoice, PROVIDED_CLOUDS, type ProvidedCloud } from './provided-clouds.ts';

export const KINDS = coreKinds('v1beta2');
export const MEMBER = 'node.cluster.x-k8s.io/karpenter-member';
const NAMESPACE = 'default';
const CLUSTER = 'fleet';

export class ProvidedWorld {
  readonly clock = new VirtualClock();
  readonly random = seededRandom('provided');
  readonly cluster = new EmbeddedCluster({ clock: this.clock, random: this.random });
  readonly provided: ProvidedCloud;
  /** What each Node's agent hears, by the name of the Node. */
  readonly voices = new Map<string, NodeVoice>();
  /** What goes wrong with calls of the autoscaler to the API server. */
  fault: (verb: Verb, kind: string) => Fault | undefined = () => undefined;
  readonly #agents: boolean;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>[] = [];
  #life = new AbortController();
  #autoscaler: Promise<unknown> = Promise.resolve();

  private constructor(cloud: keyof typeof PROVIDED_CLOUDS, agents: boolean) {
    this.#agents = agents;
    this.provided = PROVIDED_CLOUDS[cloud](this.clock);
  }

  /** With an agent on each Node where a test has something to say to it. */
  static async open(
    cloud: keyof typeof PROVIDED_CLOUDS,
    agents: 'agents' | 'no agents' = 'no agents',
  ): Promise<ProvidedWorld> {
    const world = new ProvidedWorld(cloud, agents === 'agents');
    await world.#open();
    return world;
  }

  get client(): KubeClient {
    return this.cluster.client;
  }

  get machineKind(): Resource<InfrastructureObject> {
    return infrastructureKind(this.provided.machineKind) as Resource<InfrastructureObject>;
  }

  get templateKind(): Resource<InfrastructureObject> {
    return infrastructureKind(`${this.provided.machineKind}Template`) as Resource<InfrastructureObject>;
  }

  /** Begins an autoscaler, as a process that has just started: it knows only what the cluster and the cloud know. */
  async start(provides: 'instances' | 'nothing' = 'instances'): Promise<void> {
    this.#life = new AbortController();
    const { signal } = this.#life;
    const { clock, random } = this;
    const client = new FaultyClient({
      ...{ client: this.cluster.client, clock },
      fault: (verb, kind) => this.fault(verb, kind),
      // Caches are behind what has been written.
      lagMs: 300,
    });
    const loaded = await loadClusterApi({
      unclaimedGraceMs: 300_000,
      ...(provides === 'instances' && { instanceClouds: async () => [this.provided.cloud] }),
    });
    const autoscaler = new Autoscaler({
      ...{ client, clock, random, logger: SILENT_LOGGER, metrics: new Metrics(), cluster: 'test' },
      ...{ batchIdleMs: 1000, batchMaxMs: 10_000, solveSteps: 200_000, clouds: [loaded] },
    });
    this.#autoscaler = Promise.allSettled([autoscaler.watch(signal), autoscaler.act(signal)]);
    await clock.advance(5_000);
  }

  /** The process is killed: nothing of it goes on. */
  async kill(): Promise<void> {
    this.#life.abort(new Error('killed'));
    await this.clock.run(this.#autoscaler, 'the end of the process');
  }

  async end(): Promise<void> {
    await this.kill();
    this.#stop.abort(new Error('the end'));
    await this.clock.run(Promise.allSettled(this.#running), 'the end of the world');
  }

  /** A MachineDeployment with a template of its own. */
  async makeDeployment(name: string, replicas: number, spec: object, labels: object = {}): Promise<void> {
    await this.#create(this.templateKind, name, { template: { spec } });
    await this.#create(
      KINDS.machineDeployments,
      name,
      { clusterName: CLUSTER, replicas, template: this.#machineTemplate(name) },
      labels,
    );
  }

  /** A MachineSet that no MachineDeployment owns. */
  async makeSet(name: string, replicas: number, spec: object): Promise<void> {
    await this.#create(this.templateKind, name, { template: { spec } });
    await this.#create(KINDS.machineSets, name, {
      clusterName: CLUSTER,
      replicas,
      template: this.#machineTemplate(name),
    });
  }

  /** A Machine that no set owns. */
  async makeMachine(name: string, spec: object): Promise<void> {
    const { kind } = this.machineKind;
    const template = this.#machineTemplate(name) as { readonly spec: object };
    const infrastructureRef = { apiGroup: INFRASTRUCTURE_GROUP, kind, name };
    await this.#create(KINDS.machines, name, { ...template.spec, infrastructureRef });
    await this.#create(this.machineKind, name, spec);
    const { metadata, apiVersion } = await this.client.get(KINDS.machines, { namespace: NAMESPACE, name });
    const ownerReferences = [{ apiVersion, kind: 'Machine', name, uid: metadata.uid ?? '' }];
    const body = { metadata: { ownerReferences } };
    await this.client.patch(this.machineKind, { namespace: NAMESPACE, name }, { type: 'merge', body });
  }

  /** A node class for all members and a pool for spot machines of it. */
  async makePool(): Promise<void> {
    await this.client.create(CLUSTER_API_NODE_CLASSES, {
      apiVersion: 'karpenter.cluster.x-k8s.io/v1alpha1',
      kind: 'ClusterAPINodeClass',
      metadata: { name: CLUSTER },
      spec: { scalableResourceSelector: { matchExpressions: [{ key: MEMBER, operator: 'Exists' }] } },
    });
    const { spec } = DEFAULT_NODE_POOL;
    const nodeClassRef = { group: CLUSTER_API_NODE_CLASSES.group, kind: 'ClusterAPINodeClass', name: CLUSTER };
    await this.client.create(NODE_POOLS, {
      ...DEFAULT_NODE_POOL,
      spec: {
        ...spec,
        disruption: { ...spec.disruption, consolidateAfter: 'Never' },
        template: { ...spec.template, spec: { ...spec.template.spec, nodeClassRef, requirements: [] } },
      },
    });
  }

  async machines(): Promise<readonly CoreMachine[]> {
    return (await this.client.list(KINDS.machines)).items;
  }

  async provisioned(): Promise<readonly InfrastructureObject[]> {
    return (await this.client.list(this.machineKind)).items;
  }

  async replicas(): Promise<number> {
    const { items } = await this.client.list(KINDS.machineDeployments);
    return items.reduce((sum, { spec }) => sum + (spec?.replicas ?? 0), 0);
  }

  async events(reason: string): Promise<readonly string[]> {
    const { items } = await this.client.list(EVENTS);
    return items.filter((event) => event.reason === reason).map(({ message = '' }) => message);
  }

  async #open(): Promise<void> {
    const { client, clock, random } = this;
    this.#running.push(this.cluster.run(this.#stop.signal));
    await clock.advance(0);
    for (const definition of openDefinitions(KINDS)) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    const loaded = await loadClusterApi({ unclaimedGraceMs: 300_000 });
    await clock.run(installDefinitions(client, [loaded], this.#stop.signal));
    const core = new MinimalCore({ client, kinds: KINDS, clock, random: random.split('core'), infrastructureVersion });
    this.#running.push(core.run(this.#stop.signal), this.#boot());
    await client.create(SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'join', namespace: NAMESPACE },
      data: { value: Buffer.from('#cloud-config').toString('base64') },
    });
    const clusterKind = infrastructureKind(this.provided.cloud.kinds.cluster);
    await this.#create(clusterKind, CLUSTER, this.provided.clusterSpec, {}, { [ANNOTATION_MANAGED_BY]: 'spindrift' });
    await this.#create(KINDS.clusters, CLUSTER, {
      infrastructureRef: { apiGroup: INFRASTRUCTURE_GROUP, kind: clusterKind.kind, name: CLUSTER },
    });
  }

  /** Instances that have power join the cluster, with an agent; those that lost it fall silent. */
  async #boot(): Promise<void> {
    const { signal } = this.#stop;
    const joined = new Map<string, string>();
    while (!signal.aborted) {
      const powered = new Set(this.provided.powered());
      for (const providerID of powered) {
        if (joined.has(providerID)) continue;
        const name = providerID.slice(providerID.lastIndexOf('/') + 1).toLowerCase();
        joined.set(providerID, name);
        await this.cluster.kubelets.join({ name, providerID, capacity: { cpu: '4', memory: '15Gi' } });
        if (this.#agents) this.#listen(name, providerID);
      }
      for (const [providerID, name] of joined) if (!powered.has(providerID)) this.cluster.kubelets.kill(name);
      await this.clock.sleep(1000, signal).catch(() => {});
    }
  }

  #listen(nodeName: string, providerID: string): void {
    const { client, clock, random } = this;
    const voice = this.provided.voice(providerID);
    this.voices.set(nodeName, voice);
    const recorder = new EventRecorder({ client, clock, random, component: 'spindrift-agent' });
    const agent = new Agent({
      ...{ client, clock, random, logger: SILENT_LOGGER, recorder, nodeName, taint: false, shutdownNoticeMs: 30_000 },
      sources: [voice.source],
    });
    this.#running.push(agent.run(this.#stop.signal));
  }

  #machineTemplate(name: string): object {
    return {
      metadata: { labels: { [LABEL_CLUSTER_NAME]: CLUSTER } },
      spec: {
        ...{ clusterName: CLUSTER, failureDomain: this.provided.zone, bootstrap: { dataSecretName: 'join' } },
        infrastructureRef: { apiGroup: INFRASTRUCTURE_GROUP, kind: this.templateKind.kind, name },
      },
    };
  }

  async #create(
    kind: Resource,
    name: string,
    spec: object,
    labels: object = {},
    annotations: object = {},
  ): Promise<void> {
    const metadata = { name, namespace: NAMESPACE, labels: { [LABEL_CLUSTER_NAME]: CLUSTER, ...labels }, annotations };
    const apiVersion = `${kind.group}/${kind.version}`;
    await this.client.create(kind, { apiVersion, kind: kind.kind, metadata, ...{ spec } } as KubeObject);
  }
}
