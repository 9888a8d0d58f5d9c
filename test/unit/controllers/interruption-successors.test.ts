/** Where the pods of machines that are taken away come again, in virtual time. */
import { describe, expect, it } from 'vitest';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { claimNames, claimsOf, runningPods } from './testkit/fleet-facts.ts';
import { aPodBudget, aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const STARTS_MS = 30_000;

type App = readonly [replicas: number, cpu: string];

/** Apps that share nodes of several sizes, each of which lets a fifth of its pods be away. */
async function start(apps: readonly App[]): Promise<FleetWorld> {
  const catalogue = [2, 4, 8, 16, 32].map((cpu) => aType(`of-${cpu}`, cpu));
  const world = await FleetWorld.start({ account: { catalogue, startMs: STARTS_MS }, slowHeartbeats: true });
  await world.client.create(NODE_POOLS, aPool('general'));
  for (const [index, [replicas, cpu]] of apps.entries()) {
    await world.client.create(DEPLOYMENTS, aWorkload(`app-${index}`, replicas, cpu));
    await world.client.create(POD_DISRUPTION_BUDGETS, aPodBudget(`app-${index}`, { maxUnavailable: '20%' }));
  }
  await world.clock.advance(3 * MINUTE);
  return world;
}

async function pendingPods({ client }: FleetWorld): Promise<number> {
  return (await client.list(PODS)).items.filter(({ spec }) => !spec.nodeName).length;
}

async function closedNodes({ client }: FleetWorld): Promise<number> {
  return (await client.list(NODES)).items.filter(({ spec }) => spec?.unschedulable === true).length;
}

describe('what comes after the pods of interrupted nodes', () => {
  it('is where it was planned to be: no machine is bought for what did not fit in another order', async () => {
    const sizes = ['750m', '1', '750m', '250m', '750m', '250m', '500m', '2300m', '500m', '1500m'];
    const numbers = [10, 25, 10, 25, 10, 15, 15, 25, 15, 25];
    const apps = sizes.map((cpu, index): App => [numbers[index] ?? 0, cpu]);
    const world = await start(apps);
    const before = await claimsOf(world);
    for (const { status } of before.slice(0, Math.ceil(before.length / 3)))
      world.cloud.interrupt(status?.providerID ?? '', 2 * MINUTE);
    await world.clock.advance(5000);
    const planned = (await claimNames(world)).length;
    expect(planned).toBeGreaterThan(before.length);
    await world.clock.advance(3 * MINUTE);
    expect(world.launched.size).toBe(planned);
    expect(await runningPods(world)).toBe(175);
    expect(await closedNodes(world)).toBe(0);
    await world.end();
  });

  it('has a node of its own on its way where open nodes may have no room for it, before anybody is sent away', async () => {
    const world = await start([
      [2, '3'],
      [1, '1'],
    ]);
    const [claim] = await claimsOf(world);
    // All three have room, but not in every order in which they may come.
    for (const [name, cpu] of [['roomy', '5'] as const, ['tight', '3500m'] as const]) {
      const room = { cpu, memory: '64Gi', pods: '10' };
      await world.cluster.kubelets.join({ name, capacity: room, allocatable: room });
    }
    await world.clock.advance(MINUTE);
    world.cloud.interrupt(claim?.status?.providerID ?? '', 2 * MINUTE);
    const isSentAway = async (): Promise<boolean> =>
      (await world.client.list(PODS)).items.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
    while ((await claimNames(world)).length === 1 && !(await isSentAway())) await world.clock.advance(100);
    expect(await claimNames(world)).toHaveLength(2);
    expect(await isSentAway()).toBe(false);
    await world.clock.advance(3 * MINUTE);
    expect(await runningPods(world)).toBe(3);
    expect(await closedNodes(world)).toBe(0);
    await world.end();
  });

  it('goes elsewhere when its new node is taken away as well', async () => {
    const world = await start([[4, '900m']]);
    const [claim] = await claimsOf(world);
    world.cloud.interrupt(claim?.status?.providerID ?? '', 2 * MINUTE);
    await world.clock.runUntil(() => world.launched.size === 2, MINUTE);
    await world.clock.advance(STARTS_MS + 1000);
    const second = (await claimsOf(world)).find(({ metadata }) => metadata.name !== claim?.metadata.name);
    expect(await closedNodes(world)).toBe(1);
    world.cloud.interrupt(second?.status?.providerID ?? '', 0);
    await world.clock.advance(2 * MINUTE);
    expect(await runningPods(world)).toBe(4);
    expect(await pendingPods(world)).toBe(0);
    expect(await closedNodes(world)).toBe(0);
    await world.end();
  });

  it('need not come: the node that was made for it is open to others once the old one is gone', async () => {
    const world = await start([[4, '900m']]);
    const [claim] = await claimsOf(world);
    world.cloud.interrupt(claim?.status?.providerID ?? '', 2 * MINUTE);
    await world.clock.advance(5000);
    const made = (await claimNames(world)).filter((name) => name !== claim?.metadata.name);
    expect(made).not.toEqual([]);
    const app = { name: 'app-0', namespace: 'default' };
    await world.client.patch(DEPLOYMENTS, app, { type: 'merge', body: { spec: { replicas: 0 } } });
    await world.clock.advance(3 * MINUTE);
    expect(await claimNames(world)).toEqual(made);
    expect(await closedNodes(world)).toBe(0);
    await world.end();
  });
});
