import { afterEach, describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../../../src/apis/custom-resource-definitions.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { NODES, type Node } from '../../../src/apis/kubernetes/node.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../src/apis/schema/custom-resource-definition.ts';
import { NO_FAULTS } from '../../../src/cloud/simulated/account-settings.ts';
import { Machines } from '../../../src/cloud/simulated/machines.ts';
import { SimulatedCloud } from '../../../src/cloud/simulated/simulated-cloud.ts';
import { anAccount } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { EmbeddedCluster } from '../../../src/embedded/cluster.ts';
import { Informer } from '../../../src/kube/informer.ts';
import { hasCode } from '../../../src/platform/errors.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';

const NEVER = new AbortController().signal;

/** A cluster with its kubelets, and a simulated cloud whose machines join it; the cloud can lose its memory. */
class World {
  readonly clock = new VirtualClock();
  readonly random = seededRandom('machines');
  readonly cluster = new EmbeddedCluster({ clock: this.clock, random: this.random });
  readonly #stop = new AbortController();
  #stopCloud = new AbortController();
  cloud!: SimulatedCloud;

  constructor() {
    void this.cluster.run(this.#stop.signal);
    for (const definition of DEFINITIONS) void this.cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    this.restartCloud();
  }

  /** The process that the cloud lives in starts again. */
  restartCloud(): void {
    this.#stopCloud.abort();
    this.#stopCloud = new AbortController();
    const { clock, random } = this;
    const { client, kubelets } = this.cluster;
    this.cloud = new SimulatedCloud({ clock, random });
    this.cloud.configure('account', anAccount());
    const nodes = new Informer<Node>({ client, kind: NODES, clock, random });
    const { cloud } = this;
    const claims = new Informer<NodeClaim>({ client, kind: NODE_CLAIMS, clock, random });
    const powerOff = (name: string): void => kubelets.kill(name);
    const machines = new Machines({ client, clock, cloud, nodes, claims, cluster: 'test', powerOff });
    for (const part of [nodes, claims, machines]) void part.run(this.#stopCloud.signal);
  }

  async launch(name: string): Promise<string> {
    const { providerID } = await this.cloud.runInstance(
      'account',
      {
        token: `uid-${name}`,
        offering: { capacityType: 'spot', instanceType: 'small', zone: 'zone-a' },
        openReservations: 'none',
        tags: { 'karpenter.sh/nodeclaim': name },
        bootstrap: { labels: { team: 'a' }, taints: [{ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }] },
      },
      NEVER,
    );
    return providerID;
  }

  async node(name: string): Promise<Node | undefined> {
    try {
      return await this.cluster.client.get(NODES, { name });
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  end(): void {
    this.#stopCloud.abort();
    this.#stop.abort();
  }
}

describe('a machine of the simulated cloud', () => {
  let world: World;
  const begin = (): World => {
    world = new World();
    return world;
  };
  afterEach(() => world.end());

  it('becomes a node when it runs, with what it was told at its launch, and is kept alive', async () => {
    const { clock } = begin();
    const providerID = await world.launch('claim-1');
    await clock.advance(19_000);
    expect(await world.node('claim-1')).toBeUndefined();
    await clock.advance(2_000);
    const node = await world.node('claim-1');
    expect(node).toMatchObject({
      metadata: {
        labels: {
          team: 'a',
          'node.kubernetes.io/instance-type': 'small',
          'topology.kubernetes.io/zone': 'zone-a',
          'topology.kubernetes.io/region': 'region-1',
          'karpenter.sh/capacity-type': 'spot',
          'kubernetes.io/arch': 'amd64',
          'kubernetes.io/hostname': 'claim-1',
        },
        annotations: { 'spindrift.dev/simulated': 'true', 'kwok.x-k8s.io/node': 'fake' },
      },
      spec: { providerID },
      status: {
        capacity: { cpu: '2', memory: '8Gi', pods: '110' },
        allocatable: { cpu: '1900m', memory: '7936Mi', pods: '110' },
      },
    });
    expect(node?.spec?.taints).toContainEqual({ key: 'karpenter.sh/unregistered', effect: 'NoExecute' });
    expect(node?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  });

  it('takes its node with it when it goes', async () => {
    const { clock, cloud } = begin();
    const id = (await world.launch('claim-1')).split('/').at(-1)!;
    await clock.advance(21_000);
    await cloud.terminateInstance(id, NEVER);
    await clock.advance(6_000);
    expect(await world.node('claim-1')).toBeUndefined();
  });

  it('that goes while a finalizer holds its node is no longer kept alive', async () => {
    const { clock, cloud, cluster } = begin();
    const providerID = await world.launch('claim-1');
    await clock.advance(21_000);
    const finalizers = { metadata: { finalizers: ['karpenter.sh/termination'] } };
    await cluster.client.patch(NODES, { name: 'claim-1' }, { type: 'merge', body: finalizers });
    cloud.interrupt(providerID, 0);
    await clock.advance(1_000);
    const node = await world.node('claim-1');
    expect(node?.metadata.deletionTimestamp).toBeDefined();
    expect(node?.metadata.annotations).not.toHaveProperty('spindrift.dev/simulated');
    expect(node?.metadata.annotations).not.toHaveProperty('kwok.x-k8s.io/node');
  });

  it('never joins where the class says that some do not', async () => {
    const { clock, cloud } = begin();
    cloud.configure('account', anAccount({ faults: { ...NO_FAULTS, registrationFailureRate: 1 } }));
    await world.launch('claim-1');
    await clock.advance(60_000);
    expect(await world.node('claim-1')).toBeUndefined();
  });

  it('waits with its name until the node of a former machine of that name has gone', async () => {
    const { clock, cluster } = begin();
    await cluster.client.create(NODES, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'claim-1' },
      spec: { providerID: 'simulated:///region-1/zone-a/i-0' },
    });
    const providerID = await world.launch('claim-1');
    await clock.advance(60_000);
    expect((await world.node('claim-1'))?.spec?.providerID).toBe('simulated:///region-1/zone-a/i-0');
    await cluster.client.delete(NODES, { name: 'claim-1' });
    await clock.advance(120_000);
    expect((await world.node('claim-1'))?.spec?.providerID).toBe(providerID);
  });

  it('is found again by a cloud that has lost its memory, with its name and its tags', async () => {
    const { clock } = begin();
    const providerID = await world.launch('claim-1');
    await clock.advance(21_000);
    world.restartCloud();
    await clock.advance(1_000);
    const tags = { 'karpenter.sh/nodeclaim': 'claim-1' };
    expect(await world.cloud.describeInstances('account', tags, undefined, NEVER)).toMatchObject({
      instances: [{ providerID, state: 'running' }],
    });
    expect(await world.launch('claim-1')).toBe(providerID);
    await world.cloud.terminateInstance(providerID.split('/').at(-1)!, NEVER);
    await clock.advance(6_000);
    expect(await world.node('claim-1')).toBeUndefined();
  });

  it('is found again by its claim when it had not joined yet', async () => {
    const { clock, cluster } = begin();
    await clock.advance(100);
    const { client } = cluster;
    const name = 'claim-1';
    const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'account' };
    const made = await client.create(NODE_CLAIMS, {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name, labels: { 'karpenter.sh/capacity-type': 'spot', team: 'a' } },
      spec: { nodeClassRef, requirements: [], expireAfter: 'Never' },
    } as unknown as NodeClaim);
    const providerID = 'simulated:///region-1/zone-a/i-0123456789abcdef0';
    const status = { providerID, capacity: { cpu: '2', pods: '110' }, allocatable: { cpu: '1900m', pods: '110' } };
    await client.patch(NODE_CLAIMS, { name }, { type: 'merge', body: { status } }, { subresource: 'status' });
    world.restartCloud();
    await clock.advance(1_000);
    expect(await world.node(name)).toMatchObject({
      metadata: { labels: { team: 'a' } },
      spec: { providerID },
      status: { allocatable: { cpu: '1900m' } },
    });
    expect(world.cloud.fleet.ofToken(made.metadata.uid ?? '')).toMatchObject({ state: 'running' });
  });

  it('is taken back when its node is annotated with a warning time', async () => {
    const { clock, cluster } = begin();
    await world.launch('claim-1');
    await clock.advance(21_000);
    const body = { metadata: { annotations: { 'spindrift.dev/interrupt': '30s' } } };
    await cluster.client.patch(NODES, { name: 'claim-1' }, { type: 'merge', body });
    await clock.advance(29_000);
    expect(await world.node('claim-1')).toBeDefined();
    await clock.advance(2_000);
    expect(await world.node('claim-1')).toBeUndefined();
  });
});
