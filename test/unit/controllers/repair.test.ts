/** Sick nodes, in virtual time. */
import { describe, expect, it } from 'vitest';
import { NODES, type Node } from '../../../src/apis/kubernetes/node.ts';
import { toTimestamp } from '../../../src/platform/clock.ts';
import { annotate, MINUTE, SMALL, withFleet } from './testkit/equal-fleet.ts';
import { claimNames, goingClaims, runningPods } from './testkit/fleet-facts.ts';
import type { FleetWorld } from './testkit/fleet-world.ts';

/** Says of a node that something of it is broken. */
async function breakNode(world: FleetWorld, node: Node): Promise<void> {
  const lastTransitionTime = toTimestamp(world.clock.now());
  const broken = { type: 'AcceleratedHardwareReady', status: 'False', reason: 'FellOffTheBus', lastTransitionTime };
  const body = { status: { conditions: [...(node.status?.conditions ?? []), broken] } };
  await world.client.patch(NODES, { name: node.metadata.name! }, { type: 'merge', body }, { subresource: 'status' });
}

/** Says of a node that nothing of it is broken any more. */
async function mendNode(world: FleetWorld, { metadata, status }: Node): Promise<void> {
  const body = { status: { conditions: status?.conditions ?? [] } };
  await world.client.patch(NODES, { name: metadata.name! }, { type: 'merge', body }, { subresource: 'status' });
}

describe('a sick node', () => {
  it('is left alone where someone vetoed its repair, and where too many of its pool are sick', async () => {
    const world = await withFleet(5);
    const nodes = (await world.client.list(NODES)).items;
    const [first, second] = nodes;
    await breakNode(world, first!);
    await annotate(world, first!.metadata.name!, { 'karpenter.sh/do-not-repair': 'true' });
    await world.clock.advance(15 * MINUTE);
    expect((await world.events(first!.metadata.name!)).DisruptionBlocked).toContain('karpenter.sh/do-not-repair');
    await breakNode(world, second!);
    await annotate(world, first!.metadata.name!, { 'karpenter.sh/do-not-repair': 'false' });
    await world.clock.advance(15 * MINUTE);
    expect((await world.events(second!.metadata.name!)).NodeRepairBlocked).toContain('2 of 5 nodes');
    expect((await world.events('general')).NodeRepairBlocked).toContain('more than 20%');
    expect(await claimNames(world)).toEqual(nodes.map(({ metadata }) => metadata.name).sort());
    await world.end();
  });

  it('stays when it is well again before its replacement is up, or when someone vetoes its repair by then', async () => {
    const world = await withFleet(10, undefined, { account: { ...SMALL, startMs: 3 * MINUTE } });
    const [recovers, vetoed] = (await world.client.list(NODES)).items;
    for (const node of [recovers!, vetoed!]) await breakNode(world, node);
    await world.clock.advance(11 * MINUTE);
    expect(await goingClaims(world)).toHaveLength(2);
    await mendNode(world, recovers!);
    await annotate(world, vetoed!.metadata.name!, { 'karpenter.sh/do-not-repair': 'true' });
    await world.clock.advance(10 * MINUTE);
    for (const { metadata } of [recovers!, vetoed!]) {
      const { name = '' } = metadata;
      expect((await world.claim(name))?.metadata.deletionTimestamp).toBeUndefined();
      expect((await world.node(name))?.spec?.taints ?? []).toEqual([]);
    }
    expect((await world.events(recovers!.metadata.name!)).DisruptionBlocked).toContain('no longer sick');
    expect(await goingClaims(world)).toEqual([]);
    await world.end();
  });

  it('that nothing is heard of is replaced, and its pods are not waited for then', async () => {
    const world = await withFleet(5);
    const [lost = ''] = await claimNames(world);
    world.cluster.kubelets.kill(lost);
    await world.clock.advance(25 * MINUTE);
    expect((await world.claim(lost))?.metadata.deletionTimestamp).toBeUndefined();
    await world.clock.advance(10 * MINUTE);
    expect(await world.claim(lost)).toBeUndefined();
    expect(await runningPods(world)).toBe(5);
    const { items } = await world.client.list(NODES);
    expect(items).toHaveLength(5);
    await world.end();
  });
});
