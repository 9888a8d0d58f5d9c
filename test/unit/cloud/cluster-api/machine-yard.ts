/**
 * A management cluster in virtual time: the minimal core, a provider whose machines start late and become Nodes, and those
 * who write to the same MachineDeployment as we do. Every call takes its time, so that a seed is an interleaving.
 */
import { coreKinds } from '../../../../src/apis/cluster-api/core-kinds.ts';
import type { CoreMachine } from '../../../../src/apis/cluster-api/machine.ts';
import type { MachineDeployment } from '../../../../src/apis/cluster-api/machine-deployment.ts';
import { INFRASTRUCTURE_GROUP, LABEL_CLUSTER_NAME, LABEL_SET_NAME } from '../../../../src/apis/cluster-api/names.ts';
import { keyOf, type Resource } from '../../../../src/apis/kubernetes/object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../../src/apis/schema/custom-resource-definition.ts';
import { isMarked } from '../../../../src/cloud/cluster-api/census.ts';
import { OWNER_REMEDIATED } from '../../../../src/cloud/cluster-api/core/decide-machine-set.ts';
import { MinimalCore } from '../../../../src/cloud/cluster-api/core/minimal-core.ts';
import {
  infrastructureKind,
  infrastructureVersion,
  openDefinitions,
} from '../../../../src/cloud/cluster-api/core/open-definitions.ts';
import type { InfrastructureObject } from '../../../../src/cloud/cluster-api/infrastructure-objects.ts';
import { LABEL_CLAIM_UID } from '../../../../src/cloud/cluster-api/own-names.ts';
import { StandInProvider } from '../../../../src/cloud/cluster-api/testkit/stand-in-provider.ts';
import { ApiServer } from '../../../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../../../src/embedded/in-memory-client.ts';
import type { KubeClient } from '../../../../src/kube/client.ts';
import { FaultyClient } from '../../../../src/kube/testkit/faulty-client.ts';
import { type Random, seededRandom } from '../../../../src/platform/random.ts';
import { VirtualClock } from '../../../../src/platform/virtual-clock.ts';

export const KINDS = coreKinds('v1beta2');
export const DEPLOYMENT = { namespace: 'fleet', name: 'spot-a' };
const AWS_MACHINES = infrastructureKind('AWSMachine') as Resource<InfrastructureObject>;

export class MachineYard {
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly server: ApiServer;
  /** Without delays, to look. */
  readonly direct: InMemoryClient;
  /** Machines of claims that went, and were not asked to, with what took them. */
  readonly lost: string[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #remediated = new Set<string>();

  constructor(seed: number) {
    this.random = seededRandom(`machine-yard/${seed}`);
    this.server = new ApiServer({ clock: this.clock, random: this.random.split('server') });
    this.direct = new InMemoryClient(this.server);
  }

  /** A client of one who works beside others. */
  client(who: string, slowestMs = 1500): KubeClient {
    const random = this.random.split(`client/${who}`);
    return new FaultyClient({
      client: new InMemoryClient(this.server),
      clock: this.clock,
      fault: (verb) => (verb === 'watch' ? undefined : { kind: 'late', byMs: random.between(0, slowestMs) }),
      lagMs: 200,
    });
  }

  async open(replicas: number): Promise<void> {
    for (const definition of openDefinitions(KINDS)) await this.direct.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    await this.direct.create(
      { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: DEPLOYMENT.namespace },
      },
    );
    await this.#template('spot-a-1');
    await this.direct.create(KINDS.machineDeployments, deploymentOf('spot-a-1', replicas));
    const core = new MinimalCore({
      client: this.client('core'),
      kinds: KINDS,
      clock: this.clock,
      random: this.random.split('core'),
      infrastructureVersion,
    });
    this.start((signal) => core.run(signal));
    const provider = new StandInProvider({
      client: this.direct,
      clock: this.clock,
      random: this.random.split('provider'),
      kind: AWS_MACHINES,
      startMs: [2_000, 60_000],
      providerID: ({ metadata }) => `aws:///zone-a/i-${metadata.uid?.slice(0, 8)}`,
    });
    this.start((signal) => provider.run(signal));
    this.#watchLosses();
  }

  start(work: (signal: AbortSignal) => Promise<void>): void {
    this.#running.push(work(this.#stop.signal));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.clock.advance(600_000);
    await Promise.allSettled(this.#running);
  }

  async deployment(): Promise<MachineDeployment> {
    return this.direct.get(KINDS.machineDeployments, DEPLOYMENT);
  }

  async machines(): Promise<readonly CoreMachine[]> {
    return (await this.direct.list(KINDS.machines, { namespace: DEPLOYMENT.namespace })).items;
  }

  /** A rollout: the template of the infrastructure changes. */
  async rollOut(client: KubeClient, revision: number): Promise<void> {
    const name = `spot-a-${revision}`;
    await this.#template(name);
    const body = { spec: { template: { spec: { infrastructureRef: referenceTo(name) } } } };
    await client.patch(KINDS.machineDeployments, DEPLOYMENT, { type: 'merge', body });
  }

  /** A health check has some machine replaced. */
  async remediate(client: KubeClient, random: Random): Promise<void> {
    const machines = (await this.machines()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (machines.length === 0) return;
    const machine = random.pick(machines);
    this.#remediated.add(machine.metadata.uid ?? '');
    const body = { status: { conditions: [{ type: OWNER_REMEDIATED, status: 'False', reason: 'Waiting' }] } };
    await client
      .patch(KINDS.machines, keyOf(machine), { type: 'merge', body }, { subresource: 'status' })
      .catch(() => {});
  }

  /** Somebody sets the replicas; one who is careless does not look whether others have done so meanwhile. */
  async scaleBy(client: KubeClient, by: number, manner: 'careful' | 'careless'): Promise<void> {
    const { spec, metadata } = await client.get(KINDS.machineDeployments, DEPLOYMENT);
    const replicas = Math.max(0, (spec?.replicas ?? 0) + by);
    const { resourceVersion } = metadata;
    const body = { ...(manner === 'careful' && { metadata: { resourceVersion } }), spec: { replicas } };
    await client.patch(KINDS.machineDeployments, DEPLOYMENT, { type: 'merge', body });
  }

  async #template(name: string): Promise<void> {
    const kind = infrastructureKind('AWSMachineTemplate');
    await this.direct.create(kind, {
      apiVersion: `${INFRASTRUCTURE_GROUP}/v1beta2`,
      kind: kind.kind,
      metadata: { name, namespace: DEPLOYMENT.namespace },
      ...{ spec: { template: { spec: { instanceType: 'm5.large', spotMarketOptions: {} } } } },
    });
  }

  /** Writes down each machine of a claim that begins to go without having been marked, and what can explain it. */
  #watchLosses(): void {
    this.server.world.store.observe((event) => {
      if (event.collection !== 'machines.cluster.x-k8s.io' || event.type === 'DELETED') return;
      const { metadata } = event.object as CoreMachine;
      if (metadata.deletionTimestamp === undefined || isMarked(event.object as CoreMachine)) return;
      const claim = metadata.labels?.[LABEL_CLAIM_UID];
      if (claim === undefined || this.#remediated.has(metadata.uid ?? '')) return;
      const line = `${metadata.name} of set ${metadata.labels?.[LABEL_SET_NAME]} and claim ${claim}`;
      if (!this.lost.includes(line)) this.lost.push(line);
    });
  }
}

function referenceTo(name: string): object {
  return { apiGroup: INFRASTRUCTURE_GROUP, kind: 'AWSMachineTemplate', name };
}

function deploymentOf(template: string, replicas: number): MachineDeployment {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { ...DEPLOYMENT, labels: { [LABEL_CLUSTER_NAME]: 'fleet' } },
    spec: {
      clusterName: 'fleet',
      replicas,
      template: {
        metadata: { labels: { [LABEL_CLUSTER_NAME]: 'fleet' } },
        spec: { clusterName: 'fleet', bootstrap: { dataSecretName: 'join' }, infrastructureRef: referenceTo(template) },
      },
    },
  };
}
