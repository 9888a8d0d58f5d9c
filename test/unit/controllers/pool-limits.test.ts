/** What the limits of a pool mean while its nodes come and go. */
import { describe, expect, it } from 'vitest';
import { NODE_POOLS, type NodePoolSpec } from '../../../src/apis/karpenter/node-pool.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { type Fault, FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import type { Clock, EpochMs } from '../../../src/platform/clock.ts';
import { Chronicle } from './testkit/chronicle.ts';
import { claimsOf, relabel, runningPods } from './testkit/fleet-facts.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld, type FleetWorldOptions } from './testkit/fleet-world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const SMALL = { key: 'node.kubernetes.io/instance-type', operator: 'In' as const, values: ['small'] };

/** A pool of small machines that hold one pod each, and so many pods. */
async function start(pods: number, spec: Partial<NodePoolSpec>, options: FleetWorldOptions = {}) {
  const chronicle = new Chronicle();
  const world = await FleetWorld.start({ through: chronicle.through, ...options });
  await world.client.create(NODE_POOLS, aPool('default', { template: { requirements: [SMALL] }, spec }));
  await run(world, 'web', pods);
  await world.clock.advance(MINUTE);
  expect(await runningPods(world)).toBe(pods);
  chronicle.clear();
  return { world, chronicle };
}

async function run(world: FleetWorld, name: string, pods: number): Promise<void> {
  await world.client.create(DEPLOYMENTS, aWorkload(name, pods, '1500m'));
}

/** The most claims that are there at a time, looked at every second. */
async function mostClaims(world: FleetWorld, forMs: number): Promise<number> {
  let most = 0;
  for (let ms = 0; ms < forMs; ms += SECOND) {
    await world.clock.advance(SECOND);
    most = Math.max(most, (await claimsOf(world)).length);
  }
  return most;
}

describe('a pool at its limits', () => {
  it('has machines that are taken back replaced before they go, and for that time only has more', async () => {
    const { world, chronicle } = await start(3, { limits: { nodes: '3' } });
    const [first, second] = await claimsOf(world);
    // Whoever waits for the limits does not get what is only lent.
    await run(world, 'more', 4);
    await world.clock.advance(5 * SECOND);
    for (const claim of [first!, second!]) world.cloud.interrupt(claim.status!.providerID!, 120 * SECOND);
    expect(await mostClaims(world, 10 * SECOND)).toBe(5);
    expect(chronicle.entries.map(({ what }) => what)).toEqual(['claim', 'claim']);
    expect(await mostClaims(world, 3 * MINUTE)).toBe(5);
    expect(await claimsOf(world)).toHaveLength(3);
    expect(world.instances).toBe(3);
    await world.end();
  });

  it('has a machine that goes later replaced only when it is about to go', async () => {
    const { world, chronicle } = await start(1, { limits: { nodes: '1' } });
    const [claim] = await claimsOf(world);
    const deadline = (world.clock.now() + 20 * MINUTE) as EpochMs;
    world.cloud.announce(claim!.status!.providerID!, 'scheduled-maintenance', 'the host is old', deadline);
    await world.clock.advance(14 * MINUTE);
    expect(chronicle.entries).toEqual([]);
    await world.clock.advance(4 * MINUTE);
    expect(chronicle.entries.map(({ what }) => what)).toEqual(['claim', 'claim deleted', 'evicted']);
    expect(await runningPods(world)).toBe(1);
    await world.end();
  });

  it('falls back on nothing that exceeds them when a launch finds no capacity', async () => {
    const bought = async (exhausted: readonly string[]): Promise<(string | undefined)[]> => {
      const overrides = exhausted.map((instanceType) => ({ instanceType, capacity: 0 }));
      const world = await FleetWorld.start({ account: { overrides } });
      await world.client.create(NODE_POOLS, aPool('default', { spec: { limits: { cpu: '4' } } }));
      await run(world, 'web', 1);
      await world.clock.advance(MINUTE);
      const sizes = (await claimsOf(world)).map(({ status }) => status?.capacity?.cpu);
      await world.end();
      return sizes;
    };
    expect(await bought(['small'])).toEqual(['4']);
    expect(await bought(['small', 'medium'])).toEqual([]);
  });

  it('counts a machine again that should have gone and is still there', async () => {
    const { world } = await start(1, { limits: { nodes: '1' } });
    const [claim] = await claimsOf(world);
    const passed = (world.clock.now() - 10 * MINUTE) as EpochMs;
    world.cloud.announce(claim!.status!.providerID!, 'spot-interruption', 'long ago', passed);
    expect(await mostClaims(world, 2 * MINUTE)).toBe(1);
    await world.end();
  });
});

describe('those who make nodes for pods and those who replace nodes', () => {
  it('together keep the limits of a pool, however long their writes take', async () => {
    let slow = false;
    const late = (verb: string): Fault | undefined =>
      slow && verb === 'create' ? { kind: 'late', byMs: 5 * SECOND } : undefined;
    const through = (client: KubeClient, clock: Clock): KubeClient => new FaultyClient({ client, clock, fault: late });
    const { world } = await start(2, { limits: { nodes: '3' } }, { through });
    slow = true;
    await relabel(world, 'default');
    // The replacement of the first node is being written.
    await world.clock.advance(3 * SECOND);
    await run(world, 'more', 1);
    expect(await mostClaims(world, 2 * MINUTE)).toBe(3);
    await world.end();
  });
});
