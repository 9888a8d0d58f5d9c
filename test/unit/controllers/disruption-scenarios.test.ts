/** Hours and days of a fleet whose nodes have to be replaced, in virtual time: each story ends as it should. */
import { describe, expect, it } from 'vitest';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { anAccount, aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import type { EpochMs } from '../../../src/platform/clock.ts';
import { claimNames, claimsOf, goingClaims, relabel, runningPods } from './testkit/fleet-facts.ts';
import { aPodBudget, aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SMALL = { catalogue: [aType('small', 2)] };

describe('a fleet whose nodes have to be replaced', () => {
  it('replaces drifted nodes only while the window of its budget is open, from 02:00 to 02:30, and goes on when it opens again at 04:00', async () => {
    // A machine that takes its time, so that the window closes on half of the work.
    const world = await FleetWorld.start({ account: { ...SMALL, startMs: 8 * MINUTE }, slowHeartbeats: true });
    const early = { nodes: '0', schedule: '30 2 * * *', duration: '1h30m' };
    const late = { nodes: '0', schedule: '30 4 * * *', duration: '21h30m' };
    const disruption = { budgets: [{ nodes: '1' }, early, late] };
    await world.client.create(NODE_POOLS, aPool('general', { disruption }));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 5, '1500m'));
    await world.clock.advance(15 * MINUTE);
    const before = await claimNames(world);
    expect(before).toHaveLength(5);
    await relabel(world, 'general');
    const old = async () => (await claimNames(world)).filter((name) => before.includes(name)).length;
    await world.clock.advance(HOUR + 44 * MINUTE);
    expect(await old()).toBe(5);
    expect((await world.events('general')).DisruptionBlocked).toContain('budgets allow no more disruptions');
    await world.clock.advance(2 * MINUTE);
    expect(await goingClaims(world)).toHaveLength(1);
    await world.clock.advance(40 * MINUTE);
    const left = await old();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(4);
    await world.clock.advance(HOUR + 18 * MINUTE);
    expect(await old()).toBe(left);
    await world.clock.advance(40 * MINUTE);
    expect(await old()).toBe(0);
    expect(await runningPods(world)).toBe(5);
    await world.end();
  });

  it('replaces 100 nodes of one age within a budget of 10 %: never more than 10 of them go at once', async () => {
    const world = await FleetWorld.start({ account: SMALL, slowHeartbeats: true });
    await world.client.create(NODE_POOLS, aPool('general', { template: { expireAfter: '30m' } }));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 100, '1500m'));
    await world.clock.advance(5 * MINUTE);
    const before = await claimNames(world);
    expect(before).toHaveLength(100);
    await world.clock.advance(24 * MINUTE);
    expect(await claimNames(world)).toEqual(before);
    let most = 0;
    let leastPods = 100;
    for (let step = 0; step < 300; step++) {
      await world.clock.advance(5000);
      most = Math.max(most, (await goingClaims(world)).length);
      leastPods = Math.min(leastPods, await runningPods(world));
    }
    expect(most).toBe(10);
    expect(leastPods).toBeGreaterThanOrEqual(90);
    const after = await claimNames(world);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    expect(after).toHaveLength(100);
    expect(await runningPods(world)).toBe(100);
    await world.end();
  });

  it('leaves a sick node behind a blocking PodDisruptionBudget alone and says so, unless its pods have a time to leave by', async () => {
    const world = await FleetWorld.start({ account: SMALL, slowHeartbeats: true });
    await world.client.create(NODE_POOLS, aPool('patient'));
    await world.client.create(NODE_POOLS, aPool('bounded', { template: { terminationGracePeriod: '5m' } }));
    for (const pool of ['patient', 'bounded']) {
      await world.client.create(POD_DISRUPTION_BUDGETS, aPodBudget(pool, { minAvailable: 3 }));
      await world.client.create(DEPLOYMENTS, aWorkload(pool, 3, '1500m', { pool }));
    }
    await world.clock.advance(3 * MINUTE);
    const sick = (await world.client.list(NODES)).items.filter(
      ({ metadata }, index, all) =>
        all.findIndex((other) => other.metadata.labels?.pool === metadata.labels?.pool) === index,
    );
    expect(sick).toHaveLength(2);
    for (const { metadata, status } of sick) {
      const broken = { type: 'AcceleratedHardwareReady', status: 'False', reason: 'FellOffTheBus' };
      const conditions = [
        ...status!.conditions!,
        { ...broken, lastTransitionTime: new Date(world.clock.now()).toISOString() },
      ];
      const patch = { type: 'merge', body: { status: { conditions } } } as const;
      await world.client.patch(NODES, { name: metadata.name! }, patch, { subresource: 'status' });
    }
    const [patient, bounded] = ['patient', 'bounded'].map(
      (pool) => sick.find(({ metadata }) => metadata.labels?.pool === pool)!.metadata.name!,
    );
    await world.clock.advance(9 * MINUTE);
    expect(await goingClaims(world)).toEqual([]);
    await world.clock.advance(3 * MINUTE);
    // Both tolerations are over: the one with a bound has its replacement, and its pod the time it was promised.
    expect((await world.events(patient!)).DisruptionBlocked).toContain('no terminationGracePeriod bounds its drain');
    expect((await world.claim(bounded!))?.metadata.deletionTimestamp).toBeDefined();
    expect(await runningPods(world)).toBe(6);
    await world.clock.advance(6 * MINUTE);
    expect(await world.claim(bounded!)).toBeUndefined();
    expect(await world.claim(patient!)).toBeDefined();
    await world.client.delete(POD_DISRUPTION_BUDGETS, { name: 'patient', namespace: 'default' });
    await world.clock.advance(3 * MINUTE);
    expect(await world.claim(patient!)).toBeUndefined();
    expect(await runningPods(world)).toBe(6);
    await world.end();
  });

  it('keeps its nodes where those of the new node class cannot be launched, while other pools go on', async () => {
    const world = await FleetWorld.start({ account: SMALL, slowHeartbeats: true });
    await world.addNodeClass('broken', { ...SMALL, overrides: [{ capacity: 0 }] });
    for (const pool of ['stuck', 'lucky']) {
      await world.client.create(NODE_POOLS, aPool(pool, { disruption: { budgets: [{ nodes: '1' }] } }));
      await world.client.create(DEPLOYMENTS, aWorkload(pool, 3, '1500m', { pool }));
    }
    await world.clock.advance(3 * MINUTE);
    const before = await claimNames(world);
    expect(before).toHaveLength(6);
    const body = { spec: { template: { spec: { nodeClassRef: { name: 'broken' } } } } };
    await world.client.patch(NODE_POOLS, { name: 'stuck' }, { type: 'merge', body });
    await relabel(world, 'lucky');
    await world.clock.advance(30 * MINUTE);
    const after = await claimNames(world);
    const stuck = before.filter((name) => name.startsWith('stuck-'));
    expect(after.filter((name) => name.startsWith('stuck-'))).toEqual(stuck);
    expect(after.filter((name) => name.startsWith('lucky-') && !before.includes(name))).toHaveLength(3);
    expect(after).toHaveLength(6);
    expect(await runningPods(world)).toBe(6);
    // It is tried again, but ever more seldom, and what was marked is free again.
    const failures = { decision: 'replace', reason: 'drifted', consolidation_type: '' };
    const tried = (await world.metrics.read('karpenter_voluntary_disruption_queue_failures_total', failures)) ?? 0;
    expect(tried).toBeGreaterThanOrEqual(1);
    expect(tried).toBeLessThanOrEqual(6);
    expect(await goingClaims(world)).toEqual([]);
    const { items } = await world.client.list(NODES);
    expect(items.flatMap(({ spec }) => spec?.taints ?? [])).toEqual([]);
    await world.end();
  });

  it('keeps a node whose reservation ends: it is called on-demand from then on, and nothing else happens', async () => {
    const reservation = { id: 'r-1', instanceType: 'small', zone: 'zone-a', count: 1, match: 'targeted' } as const;
    const world = await FleetWorld.start({ account: SMALL, slowHeartbeats: true });
    const endsAt = (world.clock.now() + 2 * HOUR) as EpochMs;
    world.cloud.configure('default', anAccount({ ...SMALL, reservations: [{ ...reservation, endsAt }] }));
    await world.client.create(NODE_POOLS, aPool('general'));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 1, '1500m'));
    await world.clock.advance(5 * MINUTE);
    const [claim] = await claimsOf(world);
    expect(claim?.metadata.labels?.['karpenter.sh/capacity-type']).toBe('reserved');
    await world.clock.advance(4 * HOUR);
    const [after, ...others] = await claimsOf(world);
    expect(others).toEqual([]);
    expect(after?.metadata.uid).toBe(claim?.metadata.uid);
    expect(after?.metadata.labels?.['karpenter.sh/capacity-type']).toBe('on-demand');
    expect(await world.condition(after!.metadata.name!, 'Drifted')).toBeUndefined();
    expect(world.launched.size).toBe(1);
    await world.end();
  });

  it('replaces a node whose reservation its node class no longer selects', async () => {
    const reservation = { id: 'r-1', instanceType: 'small', zone: 'zone-a', count: 1, match: 'targeted' } as const;
    const world = await FleetWorld.start({ account: { ...SMALL, reservations: [reservation] }, slowHeartbeats: true });
    await world.client.create(NODE_POOLS, aPool('general'));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 1, '1500m'));
    await world.clock.advance(5 * MINUTE);
    const [claim] = await claimsOf(world);
    expect(claim?.metadata.labels?.['karpenter.sh/capacity-type']).toBe('reserved');
    world.cloud.configure('default', anAccount(SMALL));
    await world.clock.runUntil(() => world.launched.size > 1, 10 * MINUTE);
    const drifted = { status: 'True', reason: 'CapacityReservationDrift' };
    expect(await world.condition(claim!.metadata.name!, 'Drifted')).toMatchObject(drifted);
    await world.clock.advance(3 * MINUTE);
    const [after, ...others] = await claimsOf(world);
    expect(others).toEqual([]);
    expect(after?.metadata.labels?.['karpenter.sh/capacity-type']).toBe('spot');
    expect(await runningPods(world)).toBe(1);
    await world.end();
  });

  it('keeps a node that is no longer reserved although its pool asks for that, while nothing reserved is to be had', async () => {
    const reservation = { id: 'r-1', instanceType: 'small', zone: 'zone-a', count: 1, match: 'targeted' } as const;
    const world = await FleetWorld.start({ account: SMALL, slowHeartbeats: true });
    const endsAt = (world.clock.now() + 10 * MINUTE) as EpochMs;
    world.cloud.configure('default', anAccount({ ...SMALL, reservations: [{ ...reservation, endsAt }] }));
    const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['reserved'] }];
    await world.client.create(NODE_POOLS, aPool('general', { template: { requirements } }));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 1, '1500m'));
    await world.clock.advance(20 * MINUTE);
    const [claim, ...others] = await claimsOf(world);
    expect(others).toEqual([]);
    expect(claim?.metadata.labels?.['karpenter.sh/capacity-type']).toBe('on-demand');
    const { name = '' } = claim!.metadata;
    expect(await world.condition(name, 'Drifted')).toMatchObject({ status: 'True', reason: 'RequirementsDrifted' });
    expect((await world.events(name)).DisruptionBlocked).toContain('has no other place');
    const renewed = { ...reservation, id: 'r-2' };
    world.cloud.configure('default', anAccount({ ...SMALL, reservations: [renewed] }));
    await world.clock.advance(15 * MINUTE);
    const [after] = await claimsOf(world);
    expect(after?.metadata.name).not.toBe(name);
    expect(after?.metadata.labels?.['karpenter.sh/capacity-type']).toBe('reserved');
    await world.end();
  });
});
