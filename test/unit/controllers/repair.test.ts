/** Sick nodes, in virtual time. */
import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../../src/apis/karpenter/conditions.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODES, type Node } from '../../../src/apis/kubernetes/node.ts';
import { type Fault, FaultyClient, type Verb } from '../../../src/kube/testkit/faulty-client.ts';
import { toTimestamp } from '../../../src/platform/clock.ts';
import { SpindriftError } from '../../../src/platform/errors.ts';
import { annotate, MINUTE, SMALL, withFleet } from './testkit/equal-fleet.ts';
import { claimNames, goingClaims, runningPods } from './testkit/fleet-facts.ts';
import { aClaim, FleetWorld, type FleetWorldOptions } from './testkit/fleet-world.ts';

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
    expect((await world.events(recovers!.metadata.name!)).DisruptionBlocked).toContain('healthy again');
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

describe('a node that its policies advise to reboot', () => {
  /** Speaks for the kubelet of a node, which is silent. */
  async function says(world: FleetWorld, name: string, status: 'True' | 'False', bootID: string): Promise<void> {
    const node = await world.client.get(NODES, { name });
    const lastTransitionTime = toTimestamp(world.clock.now());
    const reason = status === 'True' ? 'KubeletReady' : 'KubeletNotReady';
    const body = {
      status: {
        conditions: [{ type: 'Ready', status, reason, lastTransitionTime, lastHeartbeatTime: lastTransitionTime }],
        nodeInfo: { ...node.status?.nodeInfo, bootID },
      },
    };
    await world.client.patch(NODES, { name }, { type: 'merge', body }, { subresource: 'status' });
  }

  async function sickWorld(options: FleetWorldOptions = {}) {
    const world = await withFleet(5, undefined, { slowHeartbeats: true, ...options });
    const [sick = ''] = await claimNames(world);
    world.cluster.kubelets.kill(sick);
    await says(world, sick, 'False', 'first');
    const rebooting = async () => {
      const claim = await world.claim(sick);
      return claim && conditionOf(claim, 'Rebooting');
    };
    return { world, sick, rebooting };
  }

  const rebootsOf = (world: FleetWorld) => [...world.cloud.fleet.list()].flatMap(({ reboots }) => reboots);

  it('is closed, drained and rebooted, and is in use again when it is back', async () => {
    const { world, sick, rebooting } = await sickWorld();
    const names = await claimNames(world);
    await world.clock.advance(9 * MINUTE);
    expect(await rebooting()).toBeUndefined();
    await world.clock.advance(2 * MINUTE);
    expect(await rebooting()).toMatchObject({ status: 'True', reason: 'RebootIssued' });
    expect(rebootsOf(world)).toHaveLength(1);
    const taints = async () => ((await world.node(sick))?.spec?.taints ?? []).map(({ key }) => key);
    expect(await taints()).toContain('karpenter.sh/rebooting');
    await says(world, sick, 'True', 'second');
    await world.clock.advance(MINUTE);
    expect(await rebooting()).toMatchObject({ status: 'False', reason: 'RebootSucceeded' });
    expect(await taints()).not.toContain('karpenter.sh/rebooting');
    expect(await claimNames(world)).toEqual(expect.arrayContaining(names));
    expect((await world.events(sick)).NodeRebooted).toContain('is ready again');
    expect(await world.metrics.read('karpenter_nodes_reboots_total', { result: 'succeeded' })).toBe(1);
    await world.end();
  });

  it('is counted as back, also when one of the last writes fails', async () => {
    let left = Number.POSITIVE_INFINITY;
    const error = new SpindriftError('KUBE_SERVER_ERROR', { operation: 'patch', message: 'no leader' });
    const fault = (verb: Verb, kind: string): Fault | undefined =>
      verb === 'patch' && kind === 'nodeclaims' && --left === 0 ? { kind: 'refused', error } : undefined;
    const through: FleetWorldOptions['through'] = (client, clock) => new FaultyClient({ client, clock, fault });
    const { world, sick, rebooting } = await sickWorld({ through });
    await world.clock.advance(11 * MINUTE);
    left = 2;
    await says(world, sick, 'True', 'second');
    await world.clock.advance(MINUTE);
    expect(left).toBeLessThan(0);
    expect(await rebooting()).toMatchObject({ reason: 'RebootSucceeded' });
    expect((await world.claim(sick))?.metadata.annotations).not.toHaveProperty('karpenter.sh/reboot-pre-boot-id');
    expect(await world.events(sick)).toHaveProperty('NodeRebooted');
    expect(await world.metrics.read('karpenter_nodes_reboots_total', { result: 'succeeded' })).toBe(1);
    await world.end();
  });

  it('is replaced where it does not come back, also by a process that starts anew', async () => {
    const { world, sick } = await sickWorld();
    await world.clock.advance(11 * MINUTE);
    await world.killControllers();
    world.startControllers();
    await world.clock.advance(40 * MINUTE);
    expect(await world.claim(sick)).toBeUndefined();
    expect(rebootsOf(world)).toEqual([]);
    expect(await runningPods(world)).toBe(5);
    await world.end();
  });

  it('is replaced when it is sick for the third time in a day', async () => {
    const { world, sick, rebooting } = await sickWorld();
    for (const boot of ['second', 'third']) {
      await world.clock.advance(11 * MINUTE);
      await says(world, sick, 'True', boot);
      await world.clock.advance(MINUTE);
      expect(await rebooting()).toMatchObject({ reason: 'RebootSucceeded' });
      await says(world, sick, 'False', boot);
    }
    await world.clock.advance(15 * MINUTE);
    expect(await world.claim(sick)).toBeUndefined();
    await world.end();
  });
});

describe("another autoscaler's claim", () => {
  it('is not touched, whatever its conditions say of a reboot or a disruption', async () => {
    const world = await FleetWorld.start();
    const nodeClassRef = { group: 'karpenter.example', kind: 'OtherNodeClass', name: 'default' };
    await world.client.create(NODE_CLAIMS, aClaim('theirs', { nodeClassRef }));
    const lastTransitionTime = toTimestamp(world.clock.now());
    const conditions = [
      { type: 'Rebooting', status: 'True', reason: 'RebootRequested', lastTransitionTime },
      { type: 'DisruptionReason', status: 'True', reason: 'Drifted', lastTransitionTime },
    ];
    const patch = { type: 'merge', body: { status: { conditions } } } as const;
    await world.client.patch(NODE_CLAIMS, { name: 'theirs' }, patch, { subresource: 'status' });
    const before = await world.claim('theirs');
    await world.clock.advance(30 * MINUTE);
    expect(await world.claim('theirs')).toEqual(before);
    await world.end();
  });
});
