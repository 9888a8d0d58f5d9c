/** Pools that keep a fixed number of nodes: how they grow, shrink and are replaced. */
import { describe, expect, it } from 'vitest';
import { isTrue } from '../../../src/apis/karpenter/conditions.ts';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { SPOT_POLICIES } from '../../../src/apis/spindrift/spot-policy.ts';
import { NO_FAULTS } from '../../../src/cloud/simulated/account-settings.ts';
import { aPodAsking } from '../../../src/state/testkit/a-state-node.ts';
import { claimNames, claimsOf, goingClaims, machinesBy, relabel, runningPods } from './testkit/fleet-facts.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld, type FleetWorldOptions } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const ON_DEMAND = { key: LABEL_CAPACITY_TYPE, operator: 'In' as const, values: ['on-demand'] };

async function aStaticPool(replicas: number, parts: Parameters<typeof aPool>[1] = {}, options: FleetWorldOptions = {}) {
  const world = await FleetWorld.start({ slowHeartbeats: true, ...options });
  await world.client.create(NODE_POOLS, aPool('fixed', { ...parts, spec: { replicas, ...parts.spec } }));
  await world.clock.advance(2 * MINUTE);
  const scale = (to: number) =>
    world.client.patch(NODE_POOLS, { name: 'fixed' }, { type: 'merge', body: { spec: { replicas: to } } });
  return { world, scale };
}

async function upOf(world: FleetWorld): Promise<number> {
  return (await claimsOf(world)).filter((claim) => isTrue(claim, 'Initialized') && !claim.metadata.deletionTimestamp)
    .length;
}

describe('a static pool', () => {
  it('has its nodes without any pod, keeps them, and grows and shrinks with its replicas', async () => {
    const { world, scale } = await aStaticPool(3, {
      disruption: { consolidateAfter: '0s', consolidationPolicy: 'WhenEmptyOrUnderutilized' },
    });
    expect(await upOf(world)).toBe(3);
    const names = await claimNames(world);
    await world.clock.advance(30 * MINUTE);
    expect(await claimNames(world)).toEqual(names);
    await scale(5);
    await world.clock.advance(2 * MINUTE);
    expect(await upOf(world)).toBe(5);
    expect(await claimNames(world)).toEqual(expect.arrayContaining(names));
    await scale(0);
    await world.clock.advance(2 * MINUTE);
    expect(await claimNames(world)).toEqual([]);
    await world.end();
  });

  it('takes the cheapest machines, spread over zones where that costs little', async () => {
    const { world } = await aStaticPool(4, { template: { requirements: [ON_DEMAND] } });
    expect(await machinesBy(world, LABEL_INSTANCE_TYPE, LABEL_ZONE)).toEqual({
      'small zone-a': 2,
      'small zone-b': 2,
    });
    await world.end();
  });

  it('keeps to the shares of a SpotPolicy, also when its nodes are replaced', async () => {
    const world = await FleetWorld.start({ slowHeartbeats: true });
    await world.client.create(SPOT_POLICIES, {
      apiVersion: 'spindrift.dev/v1alpha1',
      kind: 'SpotPolicy',
      metadata: { name: 'fixed' },
      spec: { onDemand: { base: 2 } },
    } as never);
    await world.client.create(NODE_POOLS, aPool('fixed', { spec: { replicas: 4 } }));
    await world.clock.advance(2 * MINUTE);
    expect(await machinesBy(world, LABEL_CAPACITY_TYPE)).toEqual({ 'on-demand': 2, spot: 2 });
    const before = await claimNames(world);
    await relabel(world, 'fixed');
    for (let step = 0; step < 150; step++) {
      await world.clock.advance(2000);
      const going = new Set((await goingClaims(world)).map(({ metadata }) => metadata.name));
      const staying = (await claimsOf(world)).filter(({ metadata }) => !going.has(metadata.name));
      const spot = staying.filter(({ metadata }) => metadata.labels?.[LABEL_CAPACITY_TYPE] === 'spot');
      expect(staying.length - spot.length).toBeGreaterThanOrEqual(2);
    }
    expect((await claimNames(world)).filter((name) => before.includes(name))).toEqual([]);
    expect(await machinesBy(world, LABEL_CAPACITY_TYPE)).toEqual({ 'on-demand': 2, spot: 2 });
    await world.end();
  });

  it('does not exceed limits.nodes, and says that nodes are missing', async () => {
    const { world } = await aStaticPool(4, { spec: { limits: { nodes: '2' } as never } });
    expect(await upOf(world)).toBe(2);
    await world.clock.advance(10 * MINUTE);
    expect(await claimNames(world)).toHaveLength(2);
    expect((await world.events('fixed')).ReplicasMissing).toMatch(/^2 of 4 nodes are missing: /);
    await world.end();
  });

  it('replaces what is deleted, and what its cloud takes away', async () => {
    const { world } = await aStaticPool(3);
    const [first] = await claimNames(world);
    await world.client.delete(NODE_CLAIMS, { name: first! });
    await world.clock.advance(2 * MINUTE);
    expect(await upOf(world)).toBe(3);
    expect(await claimNames(world)).not.toContain(first);
    const [spot] = [...world.cloud.fleet.list()].filter(({ capacityType }) => capacityType === 'spot');
    world.cloud.interrupt(spot!.providerID, 2 * MINUTE);
    await world.clock.advance(5 * MINUTE);
    expect(await upOf(world)).toBe(3);
    expect(await claimNames(world)).toHaveLength(3);
    await world.end();
  });

  it('gives room to pods, and a pod that has it launches no other node', async () => {
    const world = await FleetWorld.start({ slowHeartbeats: true });
    await world.client.create(NODE_POOLS, aPool('general'));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 2, '1'));
    await world.client.create(NODE_POOLS, aPool('fixed', { spec: { replicas: 2 } }));
    await world.clock.advance(3 * MINUTE);
    expect(await runningPods(world)).toBe(2);
    expect(await machinesBy(world, 'karpenter.sh/nodepool')).toEqual({ fixed: 2 });
    await world.end();
  });

  it('deletes empty nodes first, then those whose pods are cheap to evict, and protected ones last', async () => {
    const { world, scale } = await aStaticPool(4);
    const nodes = (await claimsOf(world)).map(({ status }) => status?.nodeName ?? '').sort();
    const put = (name: string, node: string, annotations = {}) => {
      const pod = aPodAsking(name, { cpu: '100m' }, { nodeName: node });
      return world.client.create(PODS, { ...pod, metadata: { ...pod.metadata, annotations } });
    };
    await put('protected', nodes[0]!, { 'karpenter.sh/do-not-disrupt': 'true' });
    await put('one', nodes[1]!);
    await put('two', nodes[2]!);
    await put('three', nodes[2]!);
    await world.clock.advance(10_000);
    const left = async () => (await claimsOf(world)).map(({ status }) => status?.nodeName ?? '').sort();
    for (const expected of [nodes.slice(0, 3), [nodes[0], nodes[2]], [nodes[0]]]) {
      await scale(expected.length);
      await world.clock.advance(2 * MINUTE);
      expect(await left()).toEqual(expected);
    }
    await world.end();
  });

  it('replaces drifted nodes one for one, within budgets and limits.nodes', async () => {
    const { world } = await aStaticPool(6, {
      disruption: { budgets: [{ nodes: '4' }] },
      spec: { limits: { nodes: '8' } as never },
    });
    const before = await claimNames(world);
    await relabel(world, 'fixed');
    let most = 0;
    for (let step = 0; step < 300; step++) {
      await world.clock.advance(2000);
      most = Math.max(most, (await claimsOf(world)).length);
      expect((await goingClaims(world)).length).toBeLessThanOrEqual(2);
      if (step > 10) expect(await upOf(world)).toBeGreaterThanOrEqual(6 - 2);
    }
    expect(most).toBe(8);
    const after = await claimNames(world);
    expect(after).toHaveLength(6);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    await world.end();
  });

  it('launches few machines where none of them joins', async () => {
    const { world } = await aStaticPool(3, {}, { account: { faults: { ...NO_FAULTS, registrationFailureRate: 1 } } });
    await world.clock.advance(120 * MINUTE);
    expect(world.launched.size).toBeGreaterThan(3);
    expect(world.launched.size).toBeLessThanOrEqual(7);
    expect((await world.events('fixed')).ReplicasMissing).toContain('never joined');
    await world.end();
  });

  it('keeps its number whenever its process is killed', async () => {
    const { world, scale } = await aStaticPool(3);
    for (const [index, replicas] of [5, 2, 6, 4].entries()) {
      await scale(replicas);
      await world.clock.advance(1000 + 700 * index);
      await world.killControllers();
      await world.clock.advance(1000);
      world.startControllers();
      await world.clock.advance(3 * MINUTE);
      expect(await upOf(world)).toBe(replicas);
      expect(await claimNames(world)).toHaveLength(replicas);
    }
    await world.end();
  });
});
