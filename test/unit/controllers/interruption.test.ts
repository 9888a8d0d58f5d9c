/** Machines that their cloud takes away, in virtual time, on the embedded cluster and the simulated cloud. */
import { describe, expect, it } from 'vitest';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES, type Node } from '../../../src/apis/kubernetes/node.ts';
import { PODS, type Pod } from '../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import {
  ANNOTATION_INTERRUPTION,
  ANNOTATION_INTERRUPTION_DEADLINE,
  ANNOTATION_OPENING,
} from '../../../src/apis/spindrift/annotations.ts';
import type { Notice } from '../../../src/cloud/notice.ts';
import type { RebalanceAction } from '../../../src/controllers/interruption/decide-notice.ts';
import { aDeployment, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { type Fault, FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import type { Clock, EpochMs } from '../../../src/platform/clock.ts';
import { Chronicle, isHealthy } from './testkit/chronicle.ts';
import { FleetWorld, type FleetWorldOptions } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

async function start(
  options: FleetWorldOptions = {},
  spec: object = {},
): Promise<{ world: FleetWorld; chronicle: Chronicle }> {
  const chronicle = new Chronicle();
  const world = await FleetWorld.start({ through: chronicle.through, ...options });
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  const poolTemplate = { spec: { requirements: [], nodeClassRef, ...spec } };
  const pool = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: { template: poolTemplate },
  };
  await world.client.create(NODE_POOLS, pool as never);
  await world.clock.advance(1000);
  return { world, chronicle };
}

interface App {
  readonly replicas?: number;
  readonly cpu?: string;
  readonly grace?: number;
  readonly annotations?: Record<string, string>;
  /** A budget that lets so many of them be away. */
  readonly maxUnavailable?: number;
}

function template(name: string, { cpu = '900m', grace = 30, annotations }: App) {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu } } }];
  return aTemplate(
    name,
    'app:1',
    { containers, terminationGracePeriodSeconds: grace },
    { 'spindrift.dev/ready-after': '2s', 'spindrift.dev/stop-after': '5s', ...annotations },
  );
}

/** An app whose pods take a while to start and to stop, running. */
async function run(world: FleetWorld, name: string, app: App = {}): Promise<void> {
  const { replicas = 1, maxUnavailable } = app;
  await world.client.create(DEPLOYMENTS, aDeployment(name, { replicas, template: template(name, app) }));
  if (maxUnavailable !== undefined)
    await world.client.create(POD_DISRUPTION_BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace: 'default' },
      spec: { maxUnavailable, selector: { matchLabels: { app: name } } },
    });
  await world.clock.advance(MINUTE);
  expect((await podsOf(world, name)).filter(isHealthy)).toHaveLength(replicas);
}

async function podsOf(world: FleetWorld, app: string): Promise<readonly Pod[]> {
  return (await world.client.list(PODS, { labelSelector: `app=${app}` })).items;
}

function messages(world: FleetWorld, type: string): Promise<number | undefined> {
  return world.metrics.read('karpenter_interruption_received_messages_total', { message_type: type });
}

async function outcomes(world: FleetWorld): Promise<Record<string, number | undefined>> {
  const names = ['acted', 'told', 'repeated', 'late', 'foreign'];
  const read = (outcome: string) => world.metrics.read('spindrift_interruption_notices_total', { outcome });
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
}

/** The first claim, which the tests take away. */
async function firstClaim(world: FleetWorld) {
  const [claim] = (await world.client.list(NODE_CLAIMS)).items;
  return { name: claim!.metadata.name!, providerID: claim!.status!.providerID!, node: claim!.status!.nodeName! };
}

describe('an interrupted node', () => {
  it('is replaced before its first pod is asked to leave, and is gone before its deadline', async () => {
    const { world, chronicle } = await start();
    await run(world, 'web', { replicas: 2 });
    const { name, providerID, node } = await firstClaim(world);
    chronicle.clear();
    const at = world.clock.now();
    world.cloud.interrupt(providerID, 120_000);
    await world.clock.advance(1000);
    expect((await world.node(node))?.spec?.taints).toContainEqual({
      key: 'karpenter.sh/disrupted',
      effect: 'NoSchedule',
    });
    expect(await world.events(node)).toHaveProperty('SpotInterrupted');
    await world.clock.advance(100_000);
    expect(chronicle.entries.map(({ what }) => what)).toEqual(['claim', 'claim deleted', 'evicted', 'evicted']);
    const [replacement, drained] = chronicle.entries;
    expect(replacement!.at - at).toBeLessThan(2000);
    // It waits until the replacement is up.
    expect(drained!.at - at).toBeGreaterThan(20_000);
    expect(drained!.at - at).toBeLessThan(30_000);
    expect(await world.claim(name)).toBeUndefined();
    expect((await podsOf(world, 'web')).filter(isHealthy)).toHaveLength(2);
    expect(world.instances).toBe(1);
    expect(await world.events(name)).toHaveProperty('TerminatingOnInterruption');
    await world.end();
  });

  it('with half a minute asks for the replacement first all the same, and gives its pods what is left', async () => {
    const { world, chronicle } = await start();
    await run(world, 'web', { replicas: 2, grace: 60, annotations: { 'spindrift.dev/stop-after': '10m' } });
    const { name, providerID } = await firstClaim(world);
    chronicle.clear();
    const before = await podsOf(world, 'web');
    const at = world.clock.now();
    world.cloud.interrupt(providerID, 30_000);
    await world.clock.advance(29_900);
    expect(chronicle.entries.map(({ what }) => what)).toEqual(['claim', 'claim deleted', 'evicted', 'evicted']);
    expect(chronicle.of('evicted')[0]!.at - at).toBeLessThan(2000);
    for (const { grace } of chronicle.of('evicted')) expect(grace).toBeGreaterThan(20);
    for (const { grace } of chronicle.of('evicted')) expect(grace).toBeLessThan(28);
    // They never end by themselves, and have ended before the machine goes.
    const left = (await podsOf(world, 'web')).map(({ metadata }) => metadata.name);
    for (const { metadata } of before) expect(left).not.toContain(metadata.name);
    await world.clock.advance(MINUTE);
    expect(await world.claim(name)).toBeUndefined();
    expect(world.instances).toBe(1);
    await world.end();
  });

  it('waits for nobody when there is nobody to replace', async () => {
    const { world, chronicle } = await start();
    await run(world, 'web');
    const { name, providerID } = await firstClaim(world);
    await world.client.delete(DEPLOYMENTS, { namespace: 'default', name: 'web' });
    await world.clock.advance(10_000);
    chronicle.clear();
    world.cloud.interrupt(providerID, 120_000);
    await world.clock.advance(20_000);
    expect(await world.claim(name)).toBeUndefined();
    expect(chronicle.of('claim')).toEqual([]);
    expect(world.instances).toBe(0);
    await world.end();
  });

  it('keeps a budget that lets nobody go, says so on the node and on the pod before, and goes with its machine', async () => {
    const { world, chronicle } = await start();
    await run(world, 'web', { maxUnavailable: 0 });
    const { name, providerID, node } = await firstClaim(world);
    const [pod] = await podsOf(world, 'web');
    world.cloud.interrupt(providerID, 120_000);
    await world.clock.advance(110_000);
    expect(chronicle.of('evicted')).toEqual([]);
    for (const about of [node, pod!.metadata.name!])
      expect((await world.events(about)).CannotLeaveInTime).toMatch(/default\/web never allows an eviction/);
    expect(await world.condition(name, 'Drained')).toMatchObject({ status: 'Unknown' });
    await world.clock.advance(20_000);
    expect(await world.claim(name)).toBeUndefined();
    expect(await world.node(node)).toBeUndefined();
    // The pod runs no more, which is said at once, so that another takes its place.
    expect(chronicle.of('pod deleted').map(({ name: deleted }) => deleted)).toEqual([pod!.metadata.name]);
    expect((await podsOf(world, 'web')).filter(isHealthy)).toHaveLength(1);
    expect(world.instances).toBe(1);
    await world.end();
  });

  it('lets its pods go one by one where their budget wants that, all of them in time', async () => {
    const { world, chronicle } = await start();
    await run(world, 'web', { replicas: 7, cpu: '1', maxUnavailable: 1 });
    const { name, providerID } = await firstClaim(world);
    chronicle.clear();
    world.cloud.interrupt(providerID, 120_000);
    const deadline = world.clock.now() + 120_000;
    await world.clock.advance(115_000);
    const evicted = chronicle.of('evicted');
    expect(evicted).toHaveLength(7);
    expect(chronicle.broken).toEqual([]);
    expect(evicted.at(-1)!.at).toBeLessThan(deadline - 30_000);
    expect(await world.claim(name)).toBeUndefined();
    // Each goes as soon as the one before it has been replaced, not after a back-off.
    const gaps = evicted.slice(1).map(({ at }, index) => at - evicted[index]!.at);
    expect(Math.max(...gaps)).toBeLessThan(4000);
    await world.end();
  });

  it('leaves a pod that is not to be disrupted alone until the last moment that gives it its grace period', async () => {
    const { world, chronicle } = await start();
    await run(world, 'held', { grace: 40, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    const { providerID } = await firstClaim(world);
    const at = world.clock.now();
    world.cloud.interrupt(providerID, 120_000);
    await world.clock.advance(150_000);
    const [evicted] = chronicle.of('evicted');
    expect(evicted!.at - at).toBeGreaterThan(75_000);
    expect(evicted!.at - at).toBeLessThan(78_000);
    expect(evicted!.grace).toBeUndefined();
    await world.end();
  });

  it('is replaced by something else than what was taken away', async () => {
    const { world, chronicle } = await start();
    await run(world, 'web');
    const { name, providerID } = await firstClaim(world);
    const labelsOf = async (claim: string) => (await world.claim(claim))!.metadata.labels!;
    const { [LABEL_INSTANCE_TYPE]: type, [LABEL_ZONE]: zone, [LABEL_CAPACITY_TYPE]: capacity } = await labelsOf(name);
    chronicle.clear();
    world.cloud.interrupt(providerID, 120_000);
    await world.clock.advance(10_000);
    const other = await labelsOf(chronicle.of('claim')[0]!.name);
    expect([type, zone, capacity]).not.toEqual([
      other[LABEL_INSTANCE_TYPE],
      other[LABEL_ZONE],
      other[LABEL_CAPACITY_TYPE],
    ]);
    await world.end();
  });

  it('that has not joined yet is given up at once, and its pods get another', async () => {
    const { world, chronicle } = await start();
    await world.client.create(DEPLOYMENTS, aDeployment('web', { template: template('web', {}) }));
    await world.clock.advance(10_000);
    const [claim] = (await world.client.list(NODE_CLAIMS)).items;
    world.cloud.interrupt(claim!.status!.providerID!, 120_000);
    await world.clock.advance(50_000);
    expect(await world.claim(claim!.metadata.name!)).toBeUndefined();
    expect(chronicle.of('claim')).toHaveLength(2);
    expect((await podsOf(world, 'web')).filter(isHealthy)).toHaveLength(1);
    expect(world.instances).toBe(1);
    await world.end();
  });

  it('that was going already shortens the grace periods of pods that have been told to leave', async () => {
    const { world, chronicle } = await start();
    await run(world, 'slow', { grace: 600, annotations: { 'spindrift.dev/stop-after': '1h' } });
    const { name, providerID } = await firstClaim(world);
    await world.client.delete(NODE_CLAIMS, { name });
    await world.clock.advance(10_000);
    const [pod] = chronicle.of('evicted');
    expect(pod?.grace).toBeUndefined();
    world.cloud.interrupt(providerID, 60_000);
    await world.clock.advance(59_000);
    expect((await podsOf(world, 'slow')).map(({ metadata }) => metadata.name)).not.toContain(pod!.name);
    await world.clock.advance(20_000);
    expect(await world.claim(name)).toBeUndefined();
    await world.end();
  });

  it('of a pool with a termination grace period still has its pods deleted when that is over', async () => {
    const { world, chronicle } = await start({}, { terminationGracePeriod: '60s' });
    await run(world, 'web', { maxUnavailable: 0, grace: 20 });
    const { providerID } = await firstClaim(world);
    const at = world.clock.now();
    world.cloud.interrupt(providerID, 600_000);
    await world.clock.advance(150_000);
    expect(chronicle.of('evicted')).toEqual([]);
    expect(chronicle.of('pod deleted')).toHaveLength(1);
    expect(chronicle.of('pod deleted')[0]!.at - at).toBeGreaterThan(55_000);
    await world.end();
  });
});

describe('a notice', () => {
  it('that comes again and again is acted on once, and counted each time', async () => {
    const { world, chronicle } = await start();
    await run(world, 'web');
    const { providerID } = await firstClaim(world);
    chronicle.clear();
    const deadline = (world.clock.now() + 120_000) as EpochMs;
    for (let time = 0; time < 5; time++) world.cloud.announce(providerID, 'spot-interruption', 'soon', deadline);
    await world.clock.advance(5000);
    for (let time = 0; time < 5; time++) world.cloud.announce(providerID, 'spot-interruption', 'soon', deadline);
    await world.clock.advance(5000);
    expect(chronicle.of('claim')).toHaveLength(1);
    expect(await messages(world, 'spot_interrupted')).toBe(10);
    expect(await outcomes(world)).toMatchObject({ acted: 1, repeated: 9 });
    expect(await world.metrics.read('karpenter_interruption_deleted_messages_total')).toBe(10);
    expect(
      await world.metrics.read('spindrift_interruptions_total', { kind: 'spot-interruption', nodepool: 'default' }),
    ).toBe(1);
    await world.end();
  });

  it('of a sooner end than was known tightens the drain, and one of a later end changes nothing', async () => {
    const { world } = await start();
    await run(world, 'web');
    const { name, providerID } = await firstClaim(world);
    const say = async (inMs: number): Promise<string | undefined> => {
      world.cloud.announce(providerID, 'spot-interruption', 'soon', (world.clock.now() + inMs) as EpochMs);
      await world.clock.advance(1000);
      return (await world.claim(name))?.metadata.annotations?.[ANNOTATION_INTERRUPTION_DEADLINE];
    };
    const first = await say(120_000);
    expect(await say(240_000)).toBe(first);
    expect(Date.parse((await say(60_000))!)).toBeLessThan(Date.parse(first!));
    await world.end();
  });

  it('that comes after its deadline has the node drain at once', async () => {
    const { world, chronicle } = await start();
    await run(world, 'web');
    const { name, providerID } = await firstClaim(world);
    chronicle.clear();
    world.cloud.announce(providerID, 'spot-interruption', 'long ago', (world.clock.now() - 60_000) as EpochMs);
    await world.clock.advance(1000);
    expect(chronicle.of('evicted')).toHaveLength(1);
    await world.clock.advance(30_000);
    expect(await world.claim(name)).toBeUndefined();
    expect(await outcomes(world)).toMatchObject({ late: 1 });
    expect(world.instances).toBe(1);
    await world.end();
  });

  it("about somebody else's machine is acknowledged and counted, and nothing more", async () => {
    const { world, chronicle } = await start();
    await run(world, 'web');
    chronicle.clear();
    const other = await world.clock.run(
      world.cloud.runInstance(
        'default',
        {
          token: 'other',
          offering: { capacityType: 'spot', instanceType: 'small', zone: 'zone-a' },
          openReservations: 'none',
          tags: { 'spindrift.dev/cluster': 'another' },
          bootstrap: { labels: {}, taints: [] } as never,
        },
        new AbortController().signal,
      ),
    );
    world.cloud.interrupt(other.providerID, 10_000);
    await world.clock.advance(90_000);
    expect(await outcomes(world)).toMatchObject({ foreign: 2, acted: 0 });
    expect(chronicle.entries).toEqual([]);
    await world.end();
  });

  it('that a machine is gone takes its node and its claim away at once, and the pods run elsewhere', async () => {
    const { world } = await start();
    await run(world, 'web', { maxUnavailable: 0, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    const { name, providerID, node } = await firstClaim(world);
    world.cloud.interrupt(providerID, 0);
    await world.clock.advance(2000);
    expect(await world.node(node)).toBeUndefined();
    await world.clock.advance(5000);
    expect(await world.claim(name)).toBeUndefined();
    await world.clock.advance(20_000);
    expect((await podsOf(world, 'web')).filter(isHealthy)).toHaveLength(1);
    expect(world.instances).toBe(1);
    await world.end();
  });

  it('that a machine stops has its node drain at once, with the replacement asked for before', async () => {
    const { world, chronicle } = await start();
    await run(world, 'web');
    const { name, providerID, node } = await firstClaim(world);
    chronicle.clear();
    world.cloud.announce(providerID, 'stopping', 'somebody stops the machine');
    await world.clock.advance(30_000);
    expect(await world.events(node)).toHaveProperty('InstanceStopping');
    expect(chronicle.of('evicted')).toHaveLength(1);
    expect(await world.claim(name)).toBeUndefined();
    await world.end();
  });

  it('of maintenance without a time waits for the replacement', async () => {
    const { world, chronicle } = await start({ account: { startMs: 300_000 } });
    await world.client.create(DEPLOYMENTS, aDeployment('web', { template: template('web', {}) }));
    await world.clock.advance(6 * MINUTE);
    const { name, providerID } = await firstClaim(world);
    chronicle.clear();
    world.cloud.announce(providerID, 'scheduled-maintenance', 'the host is old');
    await world.clock.advance(4 * MINUTE);
    expect(chronicle.entries.map(({ what }) => what)).toEqual(['claim']);
    await world.clock.advance(2 * MINUTE);
    expect(chronicle.entries.map(({ what }) => what)).toEqual(['claim', 'claim deleted', 'evicted']);
    await world.clock.advance(MINUTE);
    expect(await world.claim(name)).toBeUndefined();
    expect(await world.metrics.read('karpenter_nodeclaims_disrupted_total', { reason: 'scheduled_change' })).toBe(1);
    await world.end();
  });

  it('that a reservation ends is an event and a figure', async () => {
    const { world, chronicle } = await start();
    await run(world, 'web');
    const { name, providerID, node } = await firstClaim(world);
    chronicle.clear();
    world.cloud.announce(providerID, 'reservation-ending', 'the reservation ends');
    await world.clock.advance(MINUTE);
    expect(chronicle.entries).toEqual([]);
    expect((await world.claim(name))!.metadata.annotations).not.toHaveProperty(ANNOTATION_INTERRUPTION);
    expect(await world.events(node)).toHaveProperty('CapacityReservationEnding');
    expect(await world.metrics.read('spindrift_interruptions_total', { kind: 'reservation-ending' })).toBe(1);
    await world.end();
  });

  it.each<[RebalanceAction, string]>([
    ['Event', 'is told'],
    ['Cordon', 'closes the node'],
    ['Replace', 'has the node replaced and drained'],
  ])('that a machine may be taken soon, in a pool that says %s, %s', async (action) => {
    const heard: string[] = [];
    const notices = { onRebalance: () => action, recordNotice: ({ kind }: Notice) => void heard.push(kind) };
    const { world, chronicle } = await start({ controllers: { notices } });
    await run(world, 'web');
    const { name, providerID, node } = await firstClaim(world);
    chronicle.clear();
    world.cloud.announce(providerID, 'rebalance', 'the pool is at risk');
    await world.clock.advance(10_000);
    expect(await world.events(node)).toHaveProperty('SpotRebalanceRecommendation');
    expect((await world.node(node))?.spec?.unschedulable ?? false).toBe(action === 'Cordon');
    expect(heard).toEqual(['rebalance']);
    await world.clock.advance(MINUTE);
    expect((await world.claim(name)) === undefined).toBe(action === 'Replace');
    expect(chronicle.of('claim')).toHaveLength(action === 'Replace' ? 1 : 0);
    await world.end();
  });

  it.each([
    ['has not joined yet', (node: Node | undefined) => node === undefined],
    ['is not open yet', (node: Node | undefined) => node?.metadata.annotations?.[ANNOTATION_OPENING] !== undefined],
  ])(
    'that a machine may be taken soon closes its node also where that %s, but for the pods it was made for',
    async (_, isThen) => {
      const { world } = await start({ controllers: { notices: { onRebalance: () => 'Cordon' } } });
      await world.client.create(DEPLOYMENTS, aDeployment('web', { replicas: 1, template: template('web', {}) }));
      let providerID: string | undefined;
      let node: Node | undefined;
      for (let step = 0; step < 600 && !(providerID !== undefined && isThen(node)); step++) {
        await world.clock.advance(100);
        providerID = (await world.client.list(NODE_CLAIMS)).items[0]?.status?.providerID;
        node = (await world.client.list(NODES)).items[0];
      }
      expect(isThen(node)).toBe(true);
      world.cloud.announce(providerID ?? '', 'rebalance', 'the pool is at risk');
      await world.clock.advance(MINUTE);
      const [claim, ...others] = (await world.client.list(NODE_CLAIMS)).items;
      expect(others).toEqual([]);
      expect((await world.node(claim?.status?.nodeName ?? ''))?.spec?.unschedulable).toBe(true);
      expect((await world.node(claim?.status?.nodeName ?? ''))?.metadata.annotations).not.toHaveProperty(
        ANNOTATION_OPENING,
      );
      expect((await podsOf(world, 'web')).filter(isHealthy)).toHaveLength(1);
      await world.end();
    },
  );

  it('is not lost when the API server is away for a while', async () => {
    let away = false;
    const unreachable = (): Fault | undefined => (away ? { kind: 'lost' } : undefined);
    const through = (client: KubeClient, clock: Clock): KubeClient =>
      new FaultyClient({ client, clock, fault: (verb) => (verb === 'patch' ? unreachable() : undefined) });
    const { world } = await start({ through });
    await run(world, 'web');
    const { name, providerID } = await firstClaim(world);
    away = true;
    world.cloud.interrupt(providerID, 120_000);
    await world.clock.advance(20_000);
    expect((await world.claim(name))!.metadata.annotations).not.toHaveProperty(ANNOTATION_INTERRUPTION);
    away = false;
    await world.clock.advance(5000);
    expect((await world.claim(name))!.metadata.annotations).toHaveProperty(ANNOTATION_INTERRUPTION);
    await world.clock.advance(2 * MINUTE);
    expect(await world.claim(name)).toBeUndefined();
    await world.end();
  });
});
