/** How pools use spot capacity under policies, in virtual time, on the embedded cluster and the simulated cloud. */
import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../../src/apis/karpenter/conditions.ts';
import { LABEL_CAPACITY_TYPE, LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePool } from '../../../src/apis/karpenter/node-pool.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import type { Written } from '../../../src/apis/schema/with-defaults.ts';
import { SPOT_POLICIES, type SpotPolicy, type SpotPolicySpec } from '../../../src/apis/spindrift/spot-policy.ts';
import { type AccountSettings, NO_FAULTS } from '../../../src/cloud/simulated/account-settings.ts';
import { anAccount, aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import type { InstanceType } from '../../../src/engine/problem.ts';
import { claimsOf, machinesBy } from './testkit/fleet-facts.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** One type of two cores, which holds one pod of 1500m; spot in zone b is a quarter dearer than in zone a. */
const SMALL: InstanceType = {
  ...aType('small', 2),
  offerings: aType('small', 2).offerings.map((offering) =>
    offering.capacityType === 'spot' ? { ...offering, price: offering.zone === 'zone-a' ? 0.03 : 0.0372 } : offering,
  ),
};
const ACCOUNT: Partial<AccountSettings> = { catalogue: [SMALL] };

async function start(
  policies: Readonly<Record<string, Written<SpotPolicySpec>>>,
  pools: readonly NodePool[] = [aPool('general')],
  account = ACCOUNT,
) {
  const world = await FleetWorld.start({ account });
  for (const [name, spec] of Object.entries(policies)) {
    const policy = { apiVersion: 'spindrift.dev/v1alpha1', kind: 'SpotPolicy', metadata: { name }, spec };
    await world.client.create(SPOT_POLICIES, policy as unknown as SpotPolicy);
  }
  for (const pool of pools) await world.client.create(NODE_POOLS, pool);
  await world.clock.advance(2000);
  return world;
}

/** Has so many pods of an app, each of which needs a node of its own. */
async function run(world: FleetWorld, app: string, replicas: number): Promise<void> {
  await world.client.create(DEPLOYMENTS, aWorkload(app, replicas, '1500m'));
  await world.clock.advance(MINUTE);
}

async function scale(world: FleetWorld, app: string, replicas: number): Promise<void> {
  const body = { spec: { replicas } };
  await world.client.patch(DEPLOYMENTS, { namespace: 'default', name: app }, { type: 'merge', body });
  await world.clock.advance(MINUTE);
}

/** What machines there are: capacity type and zone, with their number. */
const machines = (world: FleetWorld) => machinesBy(world, LABEL_CAPACITY_TYPE, LABEL_ZONE);

async function policy(world: FleetWorld, name: string): Promise<SpotPolicy> {
  return world.client.get(SPOT_POLICIES, { name });
}

/** The zone in which a pod that comes now gets its machine, which is then taken away again. */
async function zoneOfNext(world: FleetWorld, app: string, away: 'interrupted' | 'deleted'): Promise<string> {
  const before = new Set((await claimsOf(world)).map(({ metadata }) => metadata.name));
  await run(world, app, 1);
  const made = (await claimsOf(world)).find(({ metadata }) => !before.has(metadata.name)) as NodeClaim;
  if (away === 'interrupted') {
    world.cloud.interrupt(made.status?.providerID ?? '', 0);
    await world.clock.advance(1000);
  }
  await world.client.delete(DEPLOYMENTS, { namespace: 'default', name: app });
  for (const { metadata } of await claimsOf(world))
    await world.client.delete(NODE_CLAIMS, { name: metadata.name ?? '' });
  await world.clock.advance(10 * MINUTE);
  return made.metadata.labels?.['topology.kubernetes.io/zone'] ?? '';
}

describe('a NodePool with a policy', () => {
  it('has its first nodes and its share of the others on demand, also as it grows', async () => {
    const world = await start({ careful: { onDemand: { base: 1, percent: 30 } } });
    await run(world, 'web', 4);
    expect(await machines(world)).toEqual({ 'on-demand zone-a': 2, 'spot zone-a': 2 });
    await scale(world, 'web', 8);
    expect(await machines(world)).toEqual({ 'on-demand zone-a': 4, 'spot zone-a': 4 });
    await world.end();
  });

  it('has no more than its share in one spot pool, and the rest elsewhere', async () => {
    const world = await start({ careful: { maxPercentPerSpotPool: 40 } });
    await run(world, 'web', 5);
    expect(await machines(world)).toEqual({ 'spot zone-a': 2, 'spot zone-b': 2, 'on-demand zone-a': 1 });
    await world.end();
  });

  it('falls back on what keeps its shares when a spot pool turns out to be empty', async () => {
    const world = await start({ careful: { maxPercentPerSpotPool: 50 } });
    const empty = [{ capacityType: 'spot' as const, instanceType: 'small', zone: 'zone-a', capacity: 0 }];
    world.cloud.configure('default', anAccount({ ...ACCOUNT, overrides: empty }));
    await run(world, 'web', 4);
    expect(await machines(world)).toEqual({ 'spot zone-b': 2, 'on-demand zone-a': 2 });
    await world.end();
  });

  it('gets its nodes all the same where the policy cannot be kept, and an event says so', async () => {
    const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['spot'] }];
    const world = await start({ careful: { onDemand: { base: 1 } } }, [
      aPool('general', { template: { requirements } }),
    ]);
    await run(world, 'web', 2);
    expect(await machines(world)).toEqual({ 'spot zone-a': 2 });
    expect((await world.events('general')).SpotPolicyNotKept).toContain(
      '1 of the 2 nodes of general are to be on-demand, 1 of them cannot be',
    );
    await world.end();
  });

  it('tries an offering again after as long as the policy says', async () => {
    const world = await start({ patient: { unavailableFor: '10m', riskWeight: 0 } });
    const empty = [{ capacityType: 'spot' as const, instanceType: 'small', zone: 'zone-a', capacity: 0 }];
    world.cloud.configure('default', anAccount({ ...ACCOUNT, overrides: empty }));
    await run(world, 'first', 1);
    world.cloud.configure('default', anAccount(ACCOUNT));
    await world.clock.advance(4 * MINUTE);
    await run(world, 'second', 1);
    await world.clock.advance(4 * MINUTE);
    expect(await machines(world)).toEqual({ 'spot zone-b': 2 });
    await run(world, 'third', 1);
    expect(await machines(world)).toEqual({ 'spot zone-a': 1, 'spot zone-b': 2 });
    await world.end();
  });

  it('tries an offering again by its own policy as it is now, whichever NodePool found it empty', async () => {
    const labelled = (name: string): NodePool => {
      const pool = aPool(name);
      return { ...pool, metadata: { ...pool.metadata, labels: { tier: name } } };
    };
    const nodePoolSelector = { matchLabels: { tier: 'slow' } };
    const world = await start({ patient: { nodePoolSelector, priority: 1, unavailableFor: '24h' }, others: {} }, [
      labelled('slow'),
      labelled('fast'),
    ]);
    const zoneOf = async (app: string, pool: string): Promise<string | undefined> => {
      const before = new Set((await claimsOf(world)).map(({ metadata }) => metadata.name));
      await world.client.create(DEPLOYMENTS, aWorkload(app, 1, '1500m', { pool }));
      await world.clock.advance(MINUTE);
      const made = (await claimsOf(world)).find(({ metadata }) => !before.has(metadata.name));
      return made?.metadata.labels?.['topology.kubernetes.io/zone'];
    };
    const empty = [{ capacityType: 'spot' as const, instanceType: 'small', zone: 'zone-a', capacity: 0 }];
    world.cloud.configure('default', anAccount({ ...ACCOUNT, overrides: empty }));
    expect(await zoneOf('one', 'slow')).toBe('zone-b');
    world.cloud.configure('default', anAccount(ACCOUNT));
    expect(await zoneOf('two', 'fast')).toBe('zone-b');
    await world.clock.advance(2 * MINUTE);
    expect(await zoneOf('three', 'fast')).toBe('zone-a');
    expect(await zoneOf('four', 'slow')).toBe('zone-b');
    const body = { spec: { unavailableFor: '3m' } };
    await world.client.patch(SPOT_POLICIES, { name: 'patient' }, { type: 'merge', body });
    expect(await zoneOf('five', 'slow')).toBe('zone-a');
    await world.end();
  });

  it('is cordoned when the cloud recommends to leave a machine, if the policy says so', async () => {
    const world = await start({ careful: { onRebalance: 'Cordon' } });
    await run(world, 'web', 1);
    const [claim] = await claimsOf(world);
    world.cloud.announce(claim?.status?.providerID ?? '', 'rebalance', 'in danger');
    await world.clock.advance(5000);
    expect((await world.node(claim?.status?.nodeName ?? ''))?.spec?.unschedulable).toBe(true);
    await world.end();
  });
});

describe('machines that were bought on demand because there was no spot', () => {
  const NONE = (['zone-a', 'zone-b'] as const).map((zone) => ({
    capacityType: 'spot' as const,
    instanceType: 'small',
    zone,
    capacity: 0,
  }));
  const shrinking = aPool('general', { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } });

  /** The most that went at a time in so many minutes. */
  async function mostGoing(world: FleetWorld, minutes: number): Promise<number> {
    let most = 0;
    for (let step = 0; step < minutes * 12; step++) {
      await world.clock.advance(5000);
      const going = (await claimsOf(world)).filter(
        ({ metadata }) =>
          metadata.deletionTimestamp !== undefined || metadata.annotations?.['spindrift.dev/disruption'] !== undefined,
      );
      most = Math.max(most, going.length);
    }
    return most;
  }

  it('return to spot after the time that the policy says, no more at a time than it allows', async () => {
    const world = await start({ patient: { returnToSpot: { after: '20m', budget: '1' } } }, [shrinking]);
    world.cloud.configure('default', anAccount({ ...ACCOUNT, overrides: NONE }));
    await run(world, 'web', 2);
    await run(world, 'late', 1);
    expect(await machines(world)).toEqual({ 'on-demand zone-a': 3 });
    await world.clock.advance(8 * MINUTE);
    world.cloud.configure('default', anAccount(ACCOUNT));
    expect(await mostGoing(world, 9)).toBe(0);
    expect(await mostGoing(world, 20)).toBe(1);
    expect(await machines(world)).toEqual({ 'spot zone-a': 3 });
    await world.end();
  });

  it('stay where the policy says Never', async () => {
    const world = await start({ patient: { returnToSpot: { after: 'Never' } } }, [shrinking]);
    world.cloud.configure('default', anAccount({ ...ACCOUNT, overrides: NONE }));
    await run(world, 'web', 2);
    world.cloud.configure('default', anAccount(ACCOUNT));
    expect(await mostGoing(world, 60)).toBe(0);
    expect(await machines(world)).toEqual({ 'on-demand zone-a': 2 });
    await world.end();
  });

  it('are not exchanged where the policy asks for them on demand', async () => {
    const world = await start({ careful: { onDemand: { base: 2 } } }, [shrinking]);
    await run(world, 'web', 3);
    expect(await machines(world)).toEqual({ 'on-demand zone-a': 2, 'spot zone-a': 1 });
    expect(await mostGoing(world, 60)).toBe(0);
    await world.end();
  });
});

describe('on-demand nodes that a policy asks for', () => {
  it('stay when they are empty, and take the pods of spot nodes; but not when nothing is left to run', async () => {
    const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
    const world = await start({ careful: { onDemand: { base: 1 } } }, [aPool('general', { disruption })]);
    await run(world, 'first', 1);
    await run(world, 'others', 2);
    expect(await machines(world)).toEqual({ 'on-demand zone-a': 1, 'spot zone-a': 2 });
    await world.client.delete(DEPLOYMENTS, { namespace: 'default', name: 'first' });
    await world.clock.advance(10 * MINUTE);
    expect(await machines(world)).toEqual({ 'on-demand zone-a': 1, 'spot zone-a': 1 });
    await world.client.delete(DEPLOYMENTS, { namespace: 'default', name: 'others' });
    await world.clock.advance(5 * MINUTE);
    expect(await machines(world)).toEqual({});
    await world.end();
  });
});

describe('on-demand nodes that must go', () => {
  const disruption = { budgets: [{ nodes: '100%' }] };
  const template = { expireAfter: '1h' };

  /** Two nodes on demand, as the policy asks for, and later two on spot that nobody uses any more. */
  async function startWithRoom(spec: Written<SpotPolicySpec> = {}): Promise<FleetWorld> {
    const world = await start({ careful: { onDemand: { base: 2 }, ...spec } }, [
      aPool('general', { template, disruption }),
    ]);
    await run(world, 'web', 2);
    await world.clock.advance(50 * MINUTE);
    await run(world, 'batch', 2);
    await scale(world, 'batch', 0);
    expect(await machines(world)).toEqual({ 'on-demand zone-a': 2, 'spot zone-a': 2 });
    return world;
  }

  it('are replaced on demand, although their pods have room on spot nodes', async () => {
    const world = await startWithRoom();
    const before = (await claimsOf(world)).map(({ metadata }) => metadata.name);
    await world.clock.advance(20 * MINUTE);
    expect(await machines(world)).toEqual({ 'on-demand zone-a': 2, 'spot zone-a': 2 });
    expect((await claimsOf(world)).filter(({ metadata }) => !before.includes(metadata.name))).toHaveLength(2);
    expect(await world.events('general')).not.toHaveProperty('SpotPolicyNotKept');
    await world.end();
  });

  it('go all the same where the NodePool has nothing on demand, and an event says so', async () => {
    const world = await startWithRoom();
    const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }];
    const body = { spec: { template: { spec: { requirements } } } };
    await world.client.patch(NODE_POOLS, { name: 'general' }, { type: 'merge', body });
    await world.clock.advance(5 * MINUTE);
    expect(await machines(world)).toEqual({ 'spot zone-a': 2 });
    expect((await world.events('general')).SpotPolicyNotKept).toContain(
      '2 of the 2 nodes of general are to be on-demand, 2 of them will be missing',
    );
    await world.end();
  });

  it('go all the same when nothing could be launched for them several times', async () => {
    const world = await startWithRoom({ unavailableFor: '1s' });
    const nothing = (['spot', 'on-demand'] as const).flatMap((capacityType) =>
      ['zone-a', 'zone-b'].map((zone) => ({ capacityType, instanceType: 'small', zone, capacity: 0 })),
    );
    world.cloud.configure('default', anAccount({ ...ACCOUNT, overrides: nothing }));
    await world.clock.advance(10 * MINUTE);
    expect(await machines(world)).toEqual({ 'on-demand zone-a': 2, 'spot zone-a': 2 });
    await world.clock.advance(10 * MINUTE);
    expect(await machines(world)).toEqual({ 'spot zone-a': 2 });
    expect((await world.events('general')).SpotPolicyNotKept).toContain('2 of them will be missing');
    await world.end();
  });
});

describe('a spot pool', () => {
  it('that is empty counts once in its risk, however many machines were asked for together', async () => {
    const slow: Partial<AccountSettings> = { ...ACCOUNT, faults: { ...NO_FAULTS, latencyMs: 200 } };
    const empty = [{ capacityType: 'spot' as const, instanceType: 'small', zone: 'zone-a', capacity: 0 }];
    const world = await start({ default: {} });
    world.cloud.configure('default', anAccount({ ...slow, overrides: empty }));
    await run(world, 'web', 20);
    expect(await machines(world)).toEqual({ 'spot zone-b': 20 });
    const labels = { instance_type: 'small', zone: 'zone-a', event: 'launch-failure' };
    expect(await world.metrics.read('spindrift_spot_pool_interruptions_total', labels)).toBe(1);
    await world.end();
  });

  it('that machines are taken from keeps the others: what is elsewhere would only cost more', async () => {
    // Enough other spot offerings, each a little dearer, that one spot node may make way for another.
    const catalogue = Array.from({ length: 20 }, (_, index) => {
      const type = aType(`small-${index}`, 2);
      const price = 0.03 + index * 0.0001;
      const spot = type.offerings.map((each) => (each.capacityType === 'spot' ? { ...each, price } : each));
      return { ...type, offerings: spot };
    });
    const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
    const world = await start({ default: {} }, [aPool('general', { disruption })], { catalogue });
    await run(world, 'web', 12);
    const before = await claimsOf(world);
    for (const { status } of before.slice(0, 4)) world.cloud.interrupt(status?.providerID ?? '', 0);
    await world.clock.advance(HOUR);
    const after = (await claimsOf(world)).map(({ metadata }) => metadata.name);
    expect(after).toHaveLength(12);
    expect(after).toEqual(expect.arrayContaining(before.slice(4).map(({ metadata }) => metadata.name)));
    await world.end();
  });

  it('that is taken three times in an hour is avoided by plans, also after a restart, and used again a day later', async () => {
    const world = await start({ default: {} });
    const taken: string[] = [];
    for (const app of ['one', 'two', 'three']) taken.push(await zoneOfNext(world, app, 'interrupted'));
    expect(taken).toEqual(['zone-a', 'zone-a', 'zone-a']);
    expect(await zoneOfNext(world, 'four', 'deleted')).toBe('zone-b');
    const labels = { instance_type: 'small', zone: 'zone-a' };
    expect(
      await world.metrics.read('spindrift_spot_pool_interruptions_total', { ...labels, event: 'interruption' }),
    ).toBe(3);
    expect(await world.metrics.read('spindrift_spot_pool_interruption_rate', labels)).toBeGreaterThan(0.2);
    const [riskiest] = (await policy(world, 'default')).status?.riskiest ?? [];
    expect(riskiest).toMatchObject({ instanceType: 'small', zone: 'zone-a' });
    await world.killControllers();
    world.startControllers();
    await world.clock.advance(MINUTE);
    expect(await zoneOfNext(world, 'five', 'deleted')).toBe('zone-b');
    await world.clock.advance(24 * HOUR);
    expect(await zoneOfNext(world, 'six', 'deleted')).toBe('zone-a');
    await world.end();
  });
});

describe('the status of a policy', () => {
  it('names its NodePools, counts their nodes, and says which policy holds where several are', async () => {
    const labelled = (name: string, tier: string): NodePool => {
      const pool = aPool(name);
      return { ...pool, metadata: { ...pool.metadata, labels: { tier } } };
    };
    const world = await start(
      {
        general: { onDemand: { base: 1 } },
        special: { nodePoolSelector: { matchLabels: { tier: 'front' } }, priority: 1 },
      },
      [labelled('web', 'front'), labelled('batch', 'back')],
    );
    await world.client.create(DEPLOYMENTS, aWorkload('jobs', 3, '1500m', { pool: 'batch' }));
    await world.clock.advance(2 * MINUTE);
    const general = await policy(world, 'general');
    expect(general.status).toMatchObject({ nodePools: ['batch'], nodes: { spot: 2, onDemand: 1, reserved: 0 } });
    expect(conditionOf(general, 'Ready')?.status).toBe('True');
    expect(conditionOf(general, 'Overlapping')).toMatchObject({
      status: 'True',
      message:
        'SpotPolicy special applies to NodePool web, not this one: set a priority above 1, or narrow nodePoolSelector',
    });
    expect((await policy(world, 'special')).status).toMatchObject({ nodePools: ['web'], nodes: { spot: 0 } });
    await world.client.delete(SPOT_POLICIES, { name: 'special' });
    await world.clock.advance(5000);
    const alone = await policy(world, 'general');
    expect(alone.status?.nodePools).toEqual(['batch', 'web']);
    expect(conditionOf(alone, 'Overlapping')?.status).toBe('False');
    await world.end();
  });

  it('is not written again and again while nothing happens', async () => {
    const world = await start({ default: {} });
    await run(world, 'web', 2);
    await world.clock.advance(5 * MINUTE);
    const before = (await policy(world, 'default')).metadata.resourceVersion;
    await world.clock.advance(HOUR);
    expect((await policy(world, 'default')).metadata.resourceVersion).toBe(before);
    await world.end();
  });
});
