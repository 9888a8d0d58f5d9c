/** Machines that their cloud takes away while other things go wrong too: no places, restarts, clouds that say more than once. */
import { describe, expect, it } from 'vitest';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePoolSpec } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS, STATEFUL_SETS } from '../../../src/apis/kubernetes/workloads.ts';
import { ANNOTATION_INTERRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { NO_FAULTS } from '../../../src/cloud/simulated/account-settings.ts';
import { anAccount } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { aPod } from '../../../src/embedded/testkit/objects.ts';
import { aStatefulSet, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { KubeError } from '../../../src/kube/kube-error.ts';
import { type Fault, FaultyClient, type Verb } from '../../../src/kube/testkit/faulty-client.ts';
import type { Clock, EpochMs } from '../../../src/platform/clock.ts';
import { Chronicle } from './testkit/chronicle.ts';
import { claimsOf, runningPods } from './testkit/fleet-facts.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { aClaim, FleetWorld, type FleetWorldOptions } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const REPLACE = { notices: { onRebalance: () => 'Replace' as const } };

/** One pool, and one pod that runs on its only node. */
async function start(options: FleetWorldOptions = {}, spec: Partial<NodePoolSpec> = {}) {
  const chronicle = new Chronicle();
  const world = await FleetWorld.start({ through: chronicle.through, ...options });
  await world.client.create(NODE_POOLS, aPool('default', { spec }));
  await world.client.create(DEPLOYMENTS, aWorkload('web', 1, '900m'));
  await world.clock.advance(MINUTE);
  expect(await runningPods(world)).toBe(1);
  const [claim] = await claimsOf(world);
  chronicle.clear();
  const { providerID = '', nodeName = '' } = claim!.status!;
  return { world, chronicle, claim: claim!, name: claim!.metadata.name!, providerID, nodeName };
}

function offeringOf({ metadata }: NodeClaim): string {
  return [LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE].map((key) => metadata.labels?.[key]).join(' ');
}

/** The machine of claim `one` is taken back in a minute, and its pod is asked in time. */
async function leavesInTime(world: FleetWorld, chronicle: Chronicle): Promise<void> {
  const at = world.clock.now();
  world.cloud.interrupt((await world.claim('one'))!.status!.providerID!, MINUTE);
  await world.clock.advance(50_000);
  const [evicted] = chronicle.of('evicted');
  expect(evicted).toMatchObject({ name: 'web' });
  // The drain waits for another place as long as it may, and no longer.
  expect(evicted!.at - at).toBeLessThan(30_000);
}

describe('a process that starts after a machine was taken back', () => {
  /** What is bought when the process starts so long after the notice, and so long after that. */
  async function boughtAfter(downMs: number, laterMs = 0): Promise<string[]> {
    const { world, claim, providerID } = await start();
    const taken = offeringOf(claim);
    world.cloud.interrupt(providerID, 120_000);
    await world.clock.advance(5000);
    await world.killControllers();
    await world.clock.advance(downMs - 5000);
    const before = new Set((await claimsOf(world)).map(({ metadata }) => metadata.name));
    world.startControllers();
    await world.clock.advance(laterMs);
    // Two of them, so that they do not fit beside the first.
    await world.client.create(DEPLOYMENTS, aWorkload('more', 2, '900m'));
    await world.clock.advance(30_000);
    const bought = (await claimsOf(world)).filter(({ metadata }) => !before.has(metadata.name)).map(offeringOf);
    await world.end();
    return bought.map((offering) => (offering === taken ? 'the same' : 'another'));
  }

  it('buys something else from its first plan on', async () => {
    expect(await boughtAfter(10_000)).toEqual(['another']);
  });

  it('buys the same again when its time is over', async () => {
    expect(await boughtAfter(150_000, 40_000)).toEqual(['the same']);
  });
});

describe('an interruption after a recommendation to leave', () => {
  it('is told and counts whole in the risk of its pool, each once', async () => {
    const { world, claim, providerID, nodeName } = await start({ controllers: REPLACE });
    const { [LABEL_INSTANCE_TYPE]: instance_type = '', [LABEL_ZONE]: zone = '' } = claim.metadata.labels!;
    const risk = (event: string) =>
      world.metrics.read('spindrift_spot_pool_interruptions_total', { instance_type, zone, event });
    const danger = (kind: string) => world.metrics.read('spindrift_interruptions_total', { kind });
    world.cloud.announce(providerID, 'rebalance', 'the pool is at risk');
    await world.clock.advance(5000);
    expect([await risk('rebalance'), await risk('interruption')]).toEqual([1, undefined]);
    const deadline = (world.clock.now() + 120_000) as EpochMs;
    for (let time = 0; time < 3; time++) {
      world.cloud.announce(providerID, 'spot-interruption', 'taken back', deadline);
      await world.clock.advance(1000);
    }
    expect([await risk('rebalance'), await risk('interruption')]).toEqual([1, 1]);
    expect([await danger('rebalance'), await danger('spot-interruption')]).toEqual([1, 1]);
    expect(await world.events(nodeName)).toHaveProperty('SpotInterrupted');
    await world.end();
  });

  it('counts whole also when the node has begun to drain for the recommendation', async () => {
    const { world, claim, providerID, name } = await start({ controllers: REPLACE });
    const { [LABEL_INSTANCE_TYPE]: instance_type = '', [LABEL_ZONE]: zone = '' } = claim.metadata.labels!;
    world.cloud.announce(providerID, 'rebalance', 'the pool is at risk');
    const labels = { instance_type, zone, event: 'interruption' };
    await world.clock.advance(24_000);
    expect((await world.claim(name))?.metadata.deletionTimestamp).toBeDefined();
    world.cloud.announce(providerID, 'spot-interruption', 'taken back');
    await world.clock.advance(1000);
    expect(await world.metrics.read('spindrift_spot_pool_interruptions_total', labels)).toBe(1);
    await world.end();
  });
});

describe('a node that goes some day, and whose pods have no other place,', () => {
  it('says so, and is drained after an hour, while that can be done in good order', async () => {
    const { world, chronicle, name, providerID, nodeName } = await start({}, { limits: { nodes: '1' } });
    world.cloud.announce(providerID, 'scheduled-maintenance', 'the host is old');
    await world.clock.advance(MINUTE);
    const sentence = /No other node has room for default\/web.* until 2030-01-01T01:01:0.Z, then the node is drained/;
    expect((await world.events(nodeName)).InterruptionWaiting).toMatch(sentence);
    expect(await world.condition(name, 'DisruptionReason')).toMatchObject({
      ...{ status: 'True', reason: 'Interrupted', message: expect.stringMatching(sentence) },
    });
    await world.clock.advance(58 * MINUTE);
    expect(chronicle.entries).toEqual([]);
    await world.clock.advance(3 * MINUTE);
    expect(chronicle.entries.map(({ what }) => what)).toEqual(['claim deleted', 'evicted', 'claim']);
    expect(await world.claim(name)).toBeUndefined();
    expect(await runningPods(world)).toBe(1);
    await world.end();
  });

  it('waits that hour over restarts', async () => {
    const { world, chronicle, providerID } = await start({}, { limits: { nodes: '1' } });
    world.cloud.announce(providerID, 'scheduled-maintenance', 'the host is old');
    for (let time = 0; time < 3; time++) {
      await world.clock.advance(19 * MINUTE);
      await world.killControllers();
      world.startControllers();
    }
    expect(chronicle.of('evicted')).toEqual([]);
    await world.clock.advance(4 * MINUTE);
    expect(chronicle.of('evicted')).toHaveLength(1);
    await world.end();
  });

  it('has other places before it is drained, although that was said while nobody listened', async () => {
    const { world, chronicle, providerID } = await start({ slowHeartbeats: true });
    await world.killControllers();
    world.cloud.announce(providerID, 'scheduled-maintenance', 'the host is old');
    await world.clock.advance(61 * MINUTE);
    world.startControllers();
    await world.clock.advance(2 * MINUTE);
    expect(chronicle.entries.map(({ what }) => what)).toEqual(['claim', 'claim deleted', 'evicted']);
    expect(await runningPods(world)).toBe(1);
    await world.end();
  });

  it('is opened again after an hour where it may yet stay', async () => {
    const options = { controllers: REPLACE };
    const { world, chronicle, name, providerID, nodeName } = await start(options, { limits: { nodes: '1' } });
    world.cloud.announce(providerID, 'rebalance', 'the pool is at risk');
    await world.clock.advance(59 * MINUTE);
    expect((await world.node(nodeName))?.spec?.taints).toMatchObject([{ key: 'karpenter.sh/disrupted' }]);
    await world.clock.advance(3 * MINUTE);
    expect((await world.node(nodeName))?.spec?.taints ?? []).toEqual([]);
    expect((await world.claim(name))?.metadata.annotations).not.toHaveProperty(ANNOTATION_INTERRUPTION);
    expect(await world.condition(name, 'DisruptionReason')).toBeUndefined();
    expect((await world.events(nodeName)).InterruptionDropped).toMatch(/schedulable again/);
    expect(chronicle.entries).toEqual([]);
    await world.end();
  });

  it('is waited for a whole hour again when another notice comes after that', async () => {
    const options = { controllers: REPLACE };
    const { world, chronicle, providerID, nodeName } = await start(options, { limits: { nodes: '1' } });
    world.cloud.announce(providerID, 'rebalance', 'the pool is at risk');
    await world.clock.advance(60 * MINUTE + 1000);
    expect(await world.events(nodeName)).toHaveProperty('InterruptionDropped');
    world.cloud.announce(providerID, 'scheduled-maintenance', 'the host is old');
    await world.clock.advance(55 * MINUTE);
    expect(chronicle.of('evicted')).toEqual([]);
    await world.clock.advance(10 * MINUTE);
    expect(chronicle.of('evicted')).toHaveLength(1);
    await world.end();
  });

  it('is replaced as soon as there is one', async () => {
    const { world, chronicle, providerID } = await start();
    world.cloud.configure('default', anAccount({ overrides: [{ capacity: 0 }] }));
    world.cloud.announce(providerID, 'scheduled-maintenance', 'the host is old');
    await world.clock.advance(2 * MINUTE);
    world.cloud.configure('default', anAccount());
    expect(chronicle.of('evicted')).toEqual([]);
    // What had no capacity is tried again after three minutes.
    await world.clock.advance(5 * MINUTE);
    expect(chronicle.of('evicted')).toHaveLength(1);
    expect(await runningPods(world)).toBe(1);
    expect(world.instances).toBe(1);
    await world.end();
  });
});

describe('a node whose machine goes while the API server', () => {
  /** An API server on which writes go wrong for as long as the test says, and a pod that needs its grace period. */
  async function withFaults(noticeMs: number) {
    const faults: { of?: (verb: Verb, kind: string) => Fault | undefined } = {};
    const chronicle = new Chronicle();
    const through = (client: KubeClient, clock: Clock): KubeClient =>
      new FaultyClient({
        client: chronicle.through(client, clock),
        clock,
        fault: (verb, kind) => faults.of?.(verb, kind),
      });
    const { world, providerID } = await start({ through });
    world.cloud.interrupt(providerID, noticeMs);
    const evictedAfter = (at: number) => chronicle.of('evicted').map((entry) => entry.at - at);
    return { world, faults, evictedAfter };
  }

  it('is away has its pods leave within seconds of its return', async () => {
    const { world, faults, evictedAfter } = await withFaults(60_000);
    faults.of = (verb) => (verb === 'evict' ? { kind: 'lost' } : undefined);
    await world.clock.advance(39_000);
    faults.of = () => undefined;
    const returned = world.clock.now();
    await world.clock.advance(10_000);
    const [evicted] = evictedAfter(returned);
    expect(evicted).toBeLessThan(3000);
    await world.end();
  });

  it('does not answer an eviction has its pod asked again while there is time', async () => {
    const { world, faults, evictedAfter } = await withFaults(30_000);
    const at = world.clock.now();
    let hung = 0;
    faults.of = (verb) => (verb === 'evict' && hung++ === 0 ? { kind: 'hangs' } : undefined);
    await world.clock.advance(30_000);
    expect(hung).toBeGreaterThan(1);
    const [evicted] = evictedAfter(at);
    expect(evicted).toBeLessThan(12_000);
    await world.end();
  });

  const steps = [
    ['that the notice is written', 'patch', 'nodeclaims'],
    ['that the node is closed', 'patch', 'nodes'],
    ['that the claim goes', 'delete', 'nodeclaims'],
    ['that the node goes', 'delete', 'nodes'],
  ] as const;
  for (const [what, hangingVerb, hangingKind] of steps)
    it(`does not say ${what} is asked again while there is time`, async () => {
      const { world, faults, evictedAfter } = await withFaults(30_000);
      const at = world.clock.now();
      let asked = 0;
      faults.of = (verb, kind) =>
        verb === hangingVerb && kind === hangingKind && asked++ === 0 ? { kind: 'hangs' } : undefined;
      await world.clock.advance(30_000);
      expect(asked).toBeGreaterThan(1);
      const [evicted] = evictedAfter(at);
      expect(evicted).toBeLessThan(15_000);
      await world.end();
    });

  it('answers an eviction with a conflict has its pod asked again', async () => {
    const { world, faults, evictedAfter } = await withFaults(30_000);
    const at = world.clock.now();
    const conflict = new KubeError({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: 409,
      metadata: {},
    });
    faults.of = (verb) => (verb === 'evict' ? { kind: 'refused', error: conflict } : undefined);
    await world.clock.advance(10_000);
    faults.of = () => undefined;
    await world.clock.advance(15_000);
    const [evicted] = evictedAfter(at);
    expect(evicted).toBeLessThan(12_000);
    await world.end();
  });
});

describe('a notice whose claim was written without an answer', () => {
  it('is told and counted all the same', async () => {
    let lose = false;
    const through = (client: KubeClient, clock: Clock): KubeClient => {
      const fault = (verb: Verb, kind: string): Fault | undefined => {
        if (!lose || verb !== 'patch' || kind !== 'nodeclaims') return undefined;
        lose = false;
        return { kind: 'unanswered' };
      };
      return new FaultyClient({ client, clock, fault });
    };
    const { world, claim, name, providerID } = await start({ through });
    const { [LABEL_INSTANCE_TYPE]: instance_type = '', [LABEL_ZONE]: zone = '' } = claim.metadata.labels!;
    lose = true;
    world.cloud.interrupt(providerID, 120_000);
    await world.clock.advance(2000);
    expect(lose).toBe(false);
    expect(await world.events(name)).toHaveProperty('SpotInterrupted');
    const labels = { instance_type, zone, event: 'interruption' };
    expect(await world.metrics.read('spindrift_spot_pool_interruptions_total', labels)).toBe(1);
    expect(await world.metrics.read('spindrift_interruption_notices_total', { outcome: 'acted' })).toBe(1);
    await world.end();
  });
});

describe('a webhook that refuses the claims of one pool', () => {
  const denied = new KubeError({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: 403,
    reason: 'Forbidden',
    message: 'admission webhook denied the request',
    metadata: {},
  });

  /** Another pool beside the usual one, with a pod of its own on a node, and one that gets none. */
  async function withRefusedPool() {
    const chronicle = new Chronicle();
    const refused = { from: Number.POSITIVE_INFINITY, writes: 0 };
    const through = (client: KubeClient, clock: Clock): KubeClient => {
      const fault = (verb: Verb, kind: string, name: string): Fault | undefined => {
        if (verb !== 'create' || kind !== 'nodeclaims' || !name.startsWith('bad-')) return undefined;
        if (clock.now() < refused.from) return undefined;
        refused.writes++;
        return { kind: 'refused', error: denied };
      };
      return new FaultyClient({ client: chronicle.through(client, clock), clock, fault });
    };
    const { world, providerID } = await start({ through });
    await world.client.create(NODE_POOLS, aPool('bad'));
    await world.clock.advance(1000);
    await world.client.create(DEPLOYMENTS, aWorkload('first', 1, '1500m', { pool: 'bad' }));
    await world.clock.advance(MINUTE);
    refused.from = world.clock.now();
    await world.client.create(DEPLOYMENTS, aWorkload('second', 1, '1500m', { pool: 'bad' }));
    await world.clock.advance(MINUTE);
    chronicle.clear();
    const bad = (await claimsOf(world)).find(({ metadata }) => metadata.name?.startsWith('bad-'))!;
    return { world, chronicle, refused, providerID, bad };
  }

  it('holds up no node of another that goes some day', async () => {
    const { world, chronicle, providerID } = await withRefusedPool();
    world.cloud.announce(providerID, 'scheduled-maintenance', 'the host is old');
    await world.clock.advance(2 * MINUTE);
    expect(chronicle.entries.map(({ what }) => what)).toEqual(['claim', 'claim deleted', 'evicted']);
    await world.end();
  });

  it('keeps a node whose pods it leaves without a place from being drained, which is said', async () => {
    const { world, chronicle, bad } = await withRefusedPool();
    const { providerID = '', nodeName = '' } = bad.status!;
    world.cloud.announce(providerID, 'scheduled-maintenance', 'the host is old');
    await world.clock.advance(10 * MINUTE);
    expect(chronicle.entries).toEqual([]);
    expect((await world.events(nodeName)).InterruptionWaiting).toMatch(/No other node has room for default\/first/);
    await world.end();
  });

  it('is asked less and less often, whoever waits', async () => {
    const { world, refused, bad } = await withRefusedPool();
    world.cloud.announce(bad.status!.providerID!, 'scheduled-maintenance', 'the host is old');
    await world.clock.advance(MINUTE);
    refused.writes = 0;
    await world.clock.advance(10 * MINUTE);
    expect(refused.writes).toBeGreaterThan(10);
    expect(refused.writes).toBeLessThan(30);
    await world.end();
  });
});

describe('a node whose machine goes while others go in peace', () => {
  const inTime = { 'spindrift.dev/stop-after': '3s' };

  it('is drained in time although its cloud takes long to end each of their machines', async () => {
    const chronicle = new Chronicle();
    const world = await FleetWorld.start({ through: chronicle.through });
    const others = Array.from({ length: 150 }, (_, index) => `other-${index}`);
    for (const name of [...others, 'one']) await world.client.create(NODE_CLAIMS, aClaim(name));
    await world.clock.advance(2 * MINUTE);
    await world.client.create(PODS, aPod('web', { annotations: inTime, spec: { nodeName: 'one' } }));
    await world.clock.advance(5000);
    world.cloud.configure('default', anAccount({ faults: { ...NO_FAULTS, latencyMs: 25_000 } }));
    for (const name of others) await world.client.delete(NODE_CLAIMS, { name });
    await world.clock.advance(20_000);
    await leavesInTime(world, chronicle);
    await world.end();
  });

  it('has its pods leave in time although a webhook takes long to fail for all of theirs', async () => {
    const chronicle = new Chronicle();
    const error = new KubeError({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: 500,
      reason: 'InternalError',
      message: 'failed calling webhook: context deadline exceeded',
      metadata: {},
    });
    const through = (client: KubeClient, clock: Clock): KubeClient => {
      const fault = (verb: Verb, _kind: string, name: string): Fault | undefined =>
        verb === 'evict' && name.startsWith('slow-') ? { kind: 'refused', error, afterMs: 10_000 } : undefined;
      return new FaultyClient({ client: chronicle.through(client, clock), clock, fault });
    };
    const world = await FleetWorld.start({ through });
    const others = ['other-0', 'other-1', 'other-2', 'other-3'];
    const resources = { requests: { cpu: '7', memory: '1Gi' } };
    for (const name of ['one', ...others]) await world.client.create(NODE_CLAIMS, aClaim(name, { resources }));
    await world.clock.advance(MINUTE);
    await world.client.create(PODS, aPod('web', { annotations: inTime, spec: { nodeName: 'one' } }));
    for (let index = 0; index < 300; index++)
      await world.client.create(PODS, aPod(`slow-${index}`, { spec: { nodeName: others[index % 4]! } }));
    await world.clock.advance(5000);
    for (const name of others) await world.client.delete(NODE_CLAIMS, { name });
    await world.clock.advance(20_000);
    await leavesInTime(world, chronicle);
    await world.end();
  });
});

describe('a machine that is gone', () => {
  it('is found out as soon as its cloud can be believed', async () => {
    const faults = { ...NO_FAULTS, consistencyDelayMs: 2 * MINUTE };
    const { world, claim, nodeName, providerID } = await start({ account: { faults } });
    const launched = claim.status!.conditions!.find(({ type }) => type === 'Launched')!;
    const settled = Date.parse(launched.lastTransitionTime!) + 2 * MINUTE;
    world.cloud.interrupt(providerID, 0);
    await world.clock.advance(settled - world.clock.now() - 1000);
    expect(await world.node(nodeName)).toBeDefined();
    await world.clock.advance(7000);
    expect(await world.node(nodeName)).toBeUndefined();
    await world.end();
  });

  it('has the pods of a StatefulSet come again at once, although nobody can end the old ones', async () => {
    const { world } = await start();
    const containers = [{ name: 'main', image: 'app', resources: { requests: { cpu: '1500m' } } }];
    await world.client.create(STATEFUL_SETS, aStatefulSet('db', { template: aTemplate('db', 'app', { containers }) }));
    await world.clock.advance(MINUTE);
    const key = { namespace: 'default', name: 'db-0' };
    const { metadata, spec } = await world.client.get(PODS, key);
    world.cloud.interrupt((await world.node(spec.nodeName!))!.spec!.providerID!, 0);
    await world.clock.advance(5000);
    expect((await world.client.get(PODS, key)).metadata.uid).not.toBe(metadata.uid);
    await world.end();
  });
});
