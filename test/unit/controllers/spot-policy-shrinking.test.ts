/** Fleets that shrink under policies, in virtual time, on the embedded cluster and the simulated cloud. */
import { describe, expect, it } from 'vitest';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import type { Written } from '../../../src/apis/schema/with-defaults.ts';
import { SPOT_POLICIES, type SpotPolicy, type SpotPolicySpec } from '../../../src/apis/spindrift/spot-policy.ts';
import { anAccount, aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import type { InstanceType } from '../../../src/engine/problem.ts';
import { isClaimGoing } from '../../../src/state/state-node.ts';
import { claimsOf, machinesBy } from './testkit/fleet-facts.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SIZES = [aType('small', 2), aType('medium', 4), aType('large', 8)];
const SHRINKING = aPool('general', { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } });

async function start(spec: Written<SpotPolicySpec>, catalogue: readonly InstanceType[]): Promise<FleetWorld> {
  const world = await FleetWorld.start({ account: { catalogue } });
  const policy = { apiVersion: 'spindrift.dev/v1alpha1', kind: 'SpotPolicy', metadata: { name: 'careful' }, spec };
  await world.client.create(SPOT_POLICIES, policy as unknown as SpotPolicy);
  await world.client.create(NODE_POOLS, SHRINKING);
  await world.clock.advance(2000);
  return world;
}

async function remove(world: FleetWorld, app: string): Promise<void> {
  await world.client.delete(DEPLOYMENTS, { namespace: 'default', name: app });
}

/** Nodes that come one after the other, each with a pod that stays and a larger one; then the larger ones go, and time goes by. */
async function loadFalls(world: FleetWorld, nodes: number): Promise<void> {
  const apps = Array.from({ length: nodes }, (_, index) => `app-${index}`);
  for (const app of apps) {
    await world.client.create(DEPLOYMENTS, aWorkload(app, 1, '1200m'));
    await world.client.create(DEPLOYMENTS, aWorkload(`${app}-large`, 1, '2500m'));
    await world.clock.advance(30_000);
  }
  for (const app of apps) await remove(world, `${app}-large`);
  await world.clock.advance(2 * HOUR);
}

/** What machines there are, with their number. */
const machines = (world: FleetWorld) => machinesBy(world, LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE);

/** The most machines that go at the same time within so long. */
async function mostGoing(world: FleetWorld, ms: number): Promise<number> {
  let most = 0;
  for (let past = 0; past < ms; past += 10_000) {
    await world.clock.advance(10_000);
    const going = (await claimsOf(world)).filter(isClaimGoing);
    most = Math.max(most, going.length);
  }
  return most;
}

describe('a fleet whose load has fallen', () => {
  it.each([
    ['all of it', { percent: 100 }, { 'on-demand medium zone-a': 2 }],
    ['half of it', { percent: 50 }, { 'on-demand medium zone-a': 1, 'spot medium zone-a': 1 }],
    ['a base', { base: 3 }, { 'on-demand medium zone-a': 2 }],
    ['a base and a share', { base: 1, percent: 10 }, { 'on-demand medium zone-a': 2 }],
  ])('shrinks as far as it can where %s is to be on demand', async (_, onDemand, left) => {
    const world = await start({ onDemand }, SIZES);
    await loadFalls(world, 6);
    expect(await machines(world)).toEqual(left);
    await world.end();
  });

  it('has on-demand machines make way for smaller ones, however many spot offerings are cheaper', async () => {
    const many = (name: string, cores: number): InstanceType[] =>
      Array.from({ length: 30 }, (_, index) => aType(`${name}-${index}`, cores));
    const world = await start({ onDemand: { percent: 100 } }, [...many('small', 2), ...many('large', 16)]);
    await world.client.create(DEPLOYMENTS, aWorkload('big', 1, '14'));
    await world.client.create(DEPLOYMENTS, aWorkload('tiny', 1, '500m'));
    await world.clock.advance(MINUTE);
    expect(Object.keys(await machines(world))).toEqual([expect.stringContaining('on-demand large')]);
    await remove(world, 'big');
    await world.clock.advance(30 * MINUTE);
    expect(Object.keys(await machines(world))).toEqual([expect.stringContaining('on-demand small')]);
    await world.end();
  });

  it('shrinks in all spot pools alike where none may have more than its share', async () => {
    const world = await start({ maxPercentPerSpotPool: 50 }, SIZES);
    await loadFalls(world, 8);
    const left = Object.values(await machines(world));
    const nodes = left.reduce((sum, count) => sum + count, 0);
    expect(nodes).toBeLessThanOrEqual(4);
    expect(Math.max(...left)).toBeLessThanOrEqual(Math.ceil(nodes / 2));
    await world.end();
  });
});

describe('machines that were bought on demand for lack of spot', () => {
  const MEDIUM = [aType('medium', 4)];
  const exhausted = (...zones: string[]) => ({
    catalogue: MEDIUM,
    overrides: zones.map((zone) => ({ capacityType: 'spot' as const, instanceType: 'medium', zone, capacity: 0 })),
  });

  it('do not have others become spot in their place, which the policy asks for on demand', async () => {
    const world = await start({ onDemand: { percent: 50 }, returnToSpot: { after: '2h', budget: '1' } }, MEDIUM);
    world.cloud.configure('default', anAccount(exhausted('zone-a', 'zone-b')));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 10, '3'));
    await world.clock.advance(MINUTE);
    world.cloud.configure('default', anAccount({ catalogue: MEDIUM }));
    expect(await mostGoing(world, 30 * MINUTE)).toBe(0);
    expect(await mostGoing(world, 3 * HOUR)).toBe(1);
    expect(await machines(world)).toEqual({ 'on-demand medium zone-a': 5, 'spot medium zone-a': 5 });
    await world.end();
  });

  it('are such also where spot pools that are not exhausted were full', async () => {
    const rules = { maxPercentPerSpotPool: 50, unavailableFor: '5m', returnToSpot: { after: '2h', budget: '1' } };
    const world = await start(rules, MEDIUM);
    world.cloud.configure('default', anAccount(exhausted('zone-b')));
    await world.client.create(DEPLOYMENTS, aWorkload('probe', 2, '3'));
    await world.clock.advance(MINUTE);
    await world.client.create(DEPLOYMENTS, aWorkload('web', 10, '3'));
    await world.clock.advance(MINUTE);
    world.cloud.configure('default', anAccount({ catalogue: MEDIUM }));
    expect(await mostGoing(world, 30 * MINUTE)).toBe(0);
    await world.end();
  });
});
