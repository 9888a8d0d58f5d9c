/** Nodes that are replaced or taken away because nobody needs them as they are, in virtual time. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isTrue } from '../../../src/apis/karpenter/conditions.ts';
import { LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { EVENTS } from '../../../src/apis/kubernetes/event.ts';
import { NODES, type Node } from '../../../src/apis/kubernetes/node.ts';
import { keyOf } from '../../../src/apis/kubernetes/object.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS, type Deployment } from '../../../src/apis/kubernetes/workloads.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_REPLACES } from '../../../src/apis/spindrift/annotations.ts';
import { aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import type { Command } from '../../../src/controllers/disruption/commands/command.ts';
import { Commands } from '../../../src/controllers/disruption/commands/commands.ts';
import { Consolidation } from '../../../src/controllers/disruption/consolidation/consolidation.ts';
import type { Look } from '../../../src/controllers/disruption/look.ts';
import { aPod } from '../../../src/embedded/testkit/objects.ts';
import { type Fault, FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import { toTimestamp } from '../../../src/platform/clock.ts';
import { claimNames, claimsOf, goingClaims, relabel, runningPods } from './testkit/fleet-facts.ts';
import { aPodBudget, aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld, type FleetWorldOptions } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const SMALL = { catalogue: [aType('small', 2)] };
const ANY_NUMBER = { budgets: [{ nodes: '100%' }] };

/** A pool with so many nodes, each with a pod of the app `web`. */
async function withFleet(
  count: number,
  pool = aPool('general', { disruption: ANY_NUMBER }),
  options: FleetWorldOptions = {},
): Promise<FleetWorld> {
  const world = await FleetWorld.start({ account: SMALL, ...options });
  await world.client.create(NODE_POOLS, pool);
  await world.client.create(DEPLOYMENTS, aWorkload('web', count, '1500m'));
  await world.clock.advance(3 * MINUTE + (options.account?.startMs ?? 0));
  expect(await claimNames(world)).toHaveLength(count);
  expect(await runningPods(world)).toBe(count);
  return world;
}

async function scale(world: FleetWorld, replicas: number): Promise<void> {
  const key = { name: 'web', namespace: 'default' };
  await world.client.patch(DEPLOYMENTS, key, { type: 'merge', body: { spec: { replicas } } });
}

/** Has the node of the claim be another than its pool asks for. */
async function drift(world: FleetWorld, name: string): Promise<void> {
  const body = { metadata: { annotations: { 'karpenter.sh/nodepool-hash': '1' } } };
  await world.client.patch(NODE_CLAIMS, { name }, { type: 'merge', body });
}

async function pendingPods({ client }: FleetWorld): Promise<number> {
  return (await client.list(PODS)).items.filter(({ spec }) => !spec.nodeName).length;
}

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

async function annotate(world: FleetWorld, node: string, annotations: Record<string, string>): Promise<void> {
  await world.client.patch(NODES, { name: node }, { type: 'merge', body: { metadata: { annotations } } });
}

/** Hears what consolidation is told of what was begun of its plans. */
function hearBegun(): () => (readonly Command[])[] {
  const begun = vi.spyOn(Consolidation.prototype, 'begun').mockResolvedValue();
  onTestFinished(() => begun.mockRestore());
  return () => begun.mock.calls.map(([commands]) => commands);
}

/** A command that only takes a node away. */
function aDeparture(look: Look, name: string): Command {
  const candidates = [look.candidate(look.node(name)!, 'graceful')!];
  const nothing = { newNodes: [], needs: [], receivers: [] };
  return { id: `of-${name}`, reason: 'Underutilized', disruption: 'graceful', candidates, ...nothing };
}

/** The workload as one that only a scheduler can place: in the zone of the pods of an app. */
function besideOthers(workload: Deployment, app: string): Deployment {
  const { template } = workload.spec;
  const rule = { labelSelector: { matchLabels: { app } }, topologyKey: LABEL_ZONE };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [rule] } };
  return { ...workload, spec: { ...workload.spec, template: { ...template, spec: { ...template.spec, affinity } } } };
}

async function isRunning(world: FleetWorld, app: string): Promise<boolean> {
  const { items } = await world.client.list(PODS);
  return items.some(({ metadata, status }) => metadata.labels?.app === app && status?.phase === 'Running');
}

describe('an empty node', () => {
  it('goes once consolidateAfter is over since its last pod left', async () => {
    const disruption = { ...ANY_NUMBER, consolidateAfter: '5m', consolidationPolicy: 'WhenEmpty' } as const;
    const world = await withFleet(3, aPool('general', { disruption }));
    await scale(world, 1);
    await world.clock.advance(4 * MINUTE);
    expect(await claimNames(world)).toHaveLength(3);
    await world.clock.advance(3 * MINUTE);
    expect(await claimNames(world)).toHaveLength(1);
    expect(world.instances).toBe(1);
    expect(await runningPods(world)).toBe(1);
    const disrupted = { reason: 'empty', nodepool: 'general', capacity_type: 'spot', termination_mode: 'graceful' };
    const labels = { ...disrupted, consolidation_policy: 'when_empty' };
    expect(await world.metrics.read('karpenter_nodeclaims_disrupted_total', labels)).toBe(2);
    await world.end();
  });

  it('goes no sooner where it might have gone long before, had it been empty', async () => {
    const disruption = { ...ANY_NUMBER, consolidateAfter: '5m', consolidationPolicy: 'WhenEmpty' } as const;
    const world = await withFleet(2, aPool('general', { disruption }));
    const [first = ''] = await claimNames(world);
    await world.clock.advance(5 * MINUTE);
    expect(await world.condition(first, 'Consolidatable')).toMatchObject({ status: 'True' });
    await scale(world, 0);
    await world.clock.advance(4.5 * MINUTE);
    expect(await claimNames(world)).toHaveLength(2);
    await world.clock.advance(2 * MINUTE);
    expect(await claimNames(world)).toEqual([]);
    await world.end();
  });

  it('goes no sooner where nothing is heard of what was written on its claim', async () => {
    const disruption = { ...ANY_NUMBER, consolidateAfter: '5m', consolidationPolicy: 'WhenEmpty' } as const;
    const clients: FaultyClient[] = [];
    let silent = false;
    const fault = (verb: string, kind: string): Fault | undefined =>
      silent && verb === 'watch' && kind === 'nodeclaims' ? { kind: 'lost' } : undefined;
    const world = await withFleet(2, aPool('general', { disruption }), {
      through: (client, clock) => {
        clients.push(new FaultyClient({ client, clock, fault }));
        return clients[0]!;
      },
    });
    await world.clock.advance(5 * MINUTE);
    silent = true;
    clients[0]!.cutWatches('broken');
    await scale(world, 0);
    await world.clock.advance(MINUTE);
    silent = false;
    await world.clock.advance(3 * MINUTE);
    expect(await goingClaims(world)).toEqual([]);
    expect(await claimNames(world)).toHaveLength(2);
    await world.end();
  });

  it('goes where pods have come back to another one meanwhile, which stays', async () => {
    const disruption = { budgets: [{ nodes: '0' }], consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty' } as const;
    let slow = false;
    const fault = (verb: string, kind: string): Fault | undefined =>
      slow && verb === 'patch' && kind === 'nodes' ? { kind: 'late', byMs: 3000 } : undefined;
    const world = await withFleet(2, aPool('general', { disruption }), {
      through: (client, clock) => new FaultyClient({ client, clock, fault }),
    });
    const [used = '', empty = ''] = await claimNames(world);
    await scale(world, 0);
    await world.clock.advance(MINUTE);
    slow = true;
    await world.client.patch(
      NODE_POOLS,
      { name: 'general' },
      { type: 'merge', body: { spec: { disruption: ANY_NUMBER } } },
    );
    await world.clock.advance(2000);
    expect(await goingClaims(world)).toHaveLength(2);
    await world.client.create(PODS, aPod('late', { spec: { nodeName: used } }));
    await world.clock.advance(MINUTE);
    expect(await claimNames(world)).toEqual([used]);
    expect((await world.events(used)).DisruptionBlocked).toContain('pods have come to it meanwhile');
    expect(await world.events(empty)).not.toHaveProperty('DisruptionBlocked');
    const decided = { decision: 'delete', reason: 'empty', consolidation_type: 'empty' };
    expect(await world.metrics.read('karpenter_voluntary_disruption_decisions_total', decided)).toBe(2);
    expect(await world.metrics.read('karpenter_voluntary_disruption_queue_failures_total', decided)).toBe(1);
    await world.end();
  });

  it('does not wait for a plan that is made for the whole fleet', async () => {
    // As if it took for ever; it ends only when it is told to.
    const unending = (_: unknown, signal: AbortSignal): Promise<never> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const planning = vi.spyOn(Consolidation.prototype, 'plan').mockImplementation(unending);
    onTestFinished(() => planning.mockRestore());
    const world = await withFleet(3, aPool('general', { disruption: { ...ANY_NUMBER, consolidateAfter: '5s' } }));
    await scale(world, 1);
    await world.clock.advance(MINUTE);
    expect(planning).toHaveBeenCalled();
    expect(await claimNames(world)).toHaveLength(1);
  });

  it('stays with consolidateAfter Never, when it is protected, and beyond the budget', async () => {
    const budgets = [{ nodes: '1', reasons: ['Empty' as const] }];
    const disruption = { budgets, consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty' } as const;
    const world = await withFleet(3, aPool('general', { disruption }));
    const [protectedNode = ''] = await claimNames(world);
    await annotate(world, protectedNode, { 'karpenter.sh/do-not-disrupt': 'true' });
    const patch = (spec: object) =>
      world.client.patch(NODE_POOLS, { name: 'general' }, { type: 'merge', body: { spec } });
    await patch({ disruption: { consolidateAfter: 'Never' } });
    await scale(world, 0);
    await world.clock.advance(2 * MINUTE);
    expect(await claimNames(world)).toHaveLength(3);
    await patch({ disruption: { consolidateAfter: '0s' } });
    await world.clock.runUntil(() => world.instances < 3, MINUTE);
    expect(await goingClaims(world)).toHaveLength(1);
    await world.clock.advance(2 * MINUTE);
    expect(await claimNames(world)).toEqual([protectedNode]);
    expect((await world.events(protectedNode)).DisruptionBlocked).toContain('karpenter.sh/do-not-disrupt');
    await world.end();
  });
});

describe('a node that has drifted', () => {
  it('is kept until the one in its place is up', async () => {
    const world = await withFleet(3, aPool('general', { disruption: { budgets: [{ nodes: '1' }] } }));
    const before = await claimNames(world);
    await relabel(world, 'general');
    await world.clock.advance(10_000);
    expect(await world.condition(before[0]!, 'Drifted')).toMatchObject({ status: 'True', reason: 'NodePoolDrifted' });
    let most = 0;
    for (let step = 0; step < 60; step++) {
      await world.clock.advance(10_000);
      expect(await runningPods(world)).toBeGreaterThanOrEqual(2);
      const there = (await claimsOf(world)).filter((claim) => !isTrue(claim, 'InstanceTerminating'));
      most = Math.max(most, there.length);
    }
    expect(most).toBe(4);
    const after = await claimsOf(world);
    expect(after).toHaveLength(3);
    expect(after.filter(({ metadata }) => before.includes(metadata.name!))).toEqual([]);
    expect(after.every(({ metadata }) => metadata.labels?.wave === 'second')).toBe(true);
    await world.end();
  });

  it('is replaced at the same time as all others that the budget allows', async () => {
    const world = await withFleet(4);
    await relabel(world, 'general');
    await world.clock.advance(15_000);
    expect(await goingClaims(world)).toHaveLength(4);
    const replacements = (await claimsOf(world)).filter(({ metadata }) => metadata.annotations?.[ANNOTATION_REPLACES]);
    expect(replacements).toHaveLength(4);
    await world.clock.advance(2 * MINUTE);
    expect(await claimNames(world)).toEqual(replacements.map(({ metadata }) => metadata.name).sort());
    expect(await runningPods(world)).toBe(4);
    await world.end();
  });

  it.each([0, 1])(
    'waits for one of its own, not for that of another, which is on its way (%d restarts meanwhile)',
    async (restarts) => {
      const world = await FleetWorld.start({ account: { ...SMALL, startMs: 3 * MINUTE } });
      await world.client.create(NODE_POOLS, aPool('general', { disruption: ANY_NUMBER }));
      await world.client.create(DEPLOYMENTS, aWorkload('light', 1, '1200m'));
      await world.client.create(DEPLOYMENTS, aWorkload('heavy', 1, '1500m'));
      await world.clock.advance(5 * MINUTE);
      const before = await claimNames(world);
      const { items } = await world.client.list(PODS);
      for (const app of ['light', 'heavy']) {
        await drift(world, items.find(({ metadata }) => metadata.labels?.app === app)!.spec.nodeName!);
        await world.clock.advance(MINUTE);
        if (restarts === 0) continue;
        await world.killControllers();
        world.startControllers();
      }
      expect(await goingClaims(world)).toHaveLength(2);
      expect(await claimNames(world)).toHaveLength(4);
      for (let step = 0; step < 30; step++) {
        await world.clock.advance(10_000);
        expect(await pendingPods(world)).toBe(0);
      }
      expect((await claimNames(world)).filter((name) => before.includes(name))).toEqual([]);
      await world.end();
    },
  );

  it('is free again when its replacement is gone before it was up, and is replaced later', async () => {
    const world = await withFleet(1);
    const [old = ''] = await claimNames(world);
    await relabel(world, 'general');
    await world.clock.advance(15_000);
    const [replacement] = (await claimNames(world)).filter((name) => name !== old);
    expect((await world.node(old))?.spec?.taints).toHaveLength(1);
    expect(await world.condition(old, 'DisruptionReason')).toMatchObject({ status: 'True', reason: 'Drifted' });
    await world.client.delete(NODE_CLAIMS, { name: replacement! });
    await world.clock.advance(20_000);
    const claim = await world.claim(old);
    expect(claim?.metadata.annotations).not.toHaveProperty(ANNOTATION_DISRUPTION);
    expect((await world.node(old))?.spec?.taints ?? []).toEqual([]);
    expect(await world.condition(old, 'DisruptionReason')).toBeUndefined();
    expect((await world.events(old)).DisruptionBlocked).toContain(`the replacement ${replacement} did not come up`);
    const failed = { decision: 'replace', reason: 'drifted', consolidation_type: '' };
    expect(await world.metrics.read('karpenter_voluntary_disruption_queue_failures_total', failed)).toBe(1);
    await world.clock.advance(3 * MINUTE);
    expect(await world.claim(old)).toBeUndefined();
    expect(await runningPods(world)).toBe(1);
    await world.end();
  });

  it('stays when its pods have no other place, and says so, while those that have one go', async () => {
    const limits = { cpu: '6' };
    const world = await withFleet(2, aPool('general', { disruption: ANY_NUMBER, spec: { limits } }));
    const before = await claimNames(world);
    await relabel(world, 'general');
    await world.clock.advance(MINUTE);
    // There is room for one more node, so that one after the other can be replaced.
    await world.clock.advance(6 * MINUTE);
    expect((await claimNames(world)).filter((name) => before.includes(name))).toEqual([]);
    await world.client.patch(
      NODE_POOLS,
      { name: 'general' },
      { type: 'merge', body: { spec: { limits: { cpu: '4' } } } },
    );
    const body = { spec: { template: { metadata: { labels: { wave: 'third' } } } } };
    await world.client.patch(NODE_POOLS, { name: 'general' }, { type: 'merge', body });
    const stuck = await claimNames(world);
    await world.clock.advance(5 * MINUTE);
    expect(await claimNames(world)).toEqual(stuck);
    expect((await world.events(stuck[0]!)).DisruptionBlocked).toContain('has no other place');
    // Whoever makes room does not have to wait.
    const room = { spec: { limits: { cpu: '8' } } };
    await world.client.patch(NODE_POOLS, { name: 'general' }, { type: 'merge', body: room });
    await world.clock.advance(10_000);
    expect(await goingClaims(world)).toHaveLength(2);
    await world.end();
  });

  describe('whose pods leave slowly, one after the other', () => {
    async function withSlowFleet(): Promise<FleetWorld> {
      const world = await FleetWorld.start({ account: SMALL, slowHeartbeats: true });
      await world.client.create(NODE_POOLS, aPool('general', { disruption: ANY_NUMBER }));
      const annotations = { 'spindrift.dev/stop-after': '2s', 'spindrift.dev/ready-after': '5m' };
      await world.client.create(DEPLOYMENTS, aWorkload('web', 3, '300m', { annotations }));
      await world.client.create(POD_DISRUPTION_BUDGETS, aPodBudget('web', { maxUnavailable: 1 }));
      return world;
    }

    it('does not keep a pod waiting that leaves with them, and that only a scheduler can place', async () => {
      const world = await withSlowFleet();
      await world.client.create(DEPLOYMENTS, besideOthers(aWorkload('db', 1, '300m'), 'web'));
      await world.clock.advance(10 * MINUTE);
      const [old = ''] = await claimNames(world);
      await relabel(world, 'general');
      let downMs = 0;
      for (let step = 0; step < 60; step++) {
        await world.clock.advance(5000);
        if (!(await isRunning(world, 'db'))) downMs += 5000;
      }
      expect(await world.claim(old)).toBeDefined();
      expect(downMs).toBeLessThanOrEqual(15_000);
      await world.end();
    });

    it('does not keep a pod waiting that is planned onto what they leave of its replacement, and that only a scheduler can place', async () => {
      const world = await withSlowFleet();
      await world.clock.advance(10 * MINUTE);
      const [old = ''] = await claimNames(world);
      await relabel(world, 'general');
      await world.clock.advance(MINUTE);
      await world.client.create(DEPLOYMENTS, besideOthers(aWorkload('db', 1, '300m'), 'web'));
      await world.clock.advance(15_000);
      expect(await isRunning(world, 'db')).toBe(true);
      expect(await claimNames(world)).toHaveLength(2);
      await world.clock.advance(30 * MINUTE);
      expect(await world.claim(old)).toBeUndefined();
      expect(await claimNames(world)).toHaveLength(1);
      expect(await runningPods(world)).toBe(4);
      await world.end();
    });
  });

  it('waits for a pod that is not to be disrupted, and says which', async () => {
    const world = await withFleet(1);
    const [name = ''] = await claimNames(world);
    const [pod] = (await world.client.list(PODS)).items;
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
    const key = { name: pod!.metadata.name!, namespace: 'default' };
    await world.client.patch(PODS, key, { type: 'merge', body: { metadata: { annotations } } });
    await relabel(world, 'general');
    await world.clock.advance(2 * MINUTE);
    expect(await claimNames(world)).toEqual([name]);
    expect((await world.events(name)).DisruptionBlocked).toContain(`pod default/${pod?.metadata.name}`);
    await world.client.patch(PODS, key, {
      type: 'merge',
      body: { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': null } } },
    });
    await world.clock.advance(2 * MINUTE);
    expect(await world.claim(name)).toBeUndefined();
    await world.end();
  });
});

describe('a pod', () => {
  it('is told once when nobody understands for how long it is not to be disrupted', async () => {
    const world = await withFleet(1);
    const [pod] = (await world.client.list(PODS)).items;
    const key = keyOf(pod!);
    const say = (annotations: Record<string, string>) =>
      world.client.patch(PODS, key, { type: 'merge', body: { metadata: { annotations } } });
    await say({ 'karpenter.sh/do-not-disrupt': '1.5h' });
    await world.clock.advance(1000);
    expect(await world.events(key.name)).not.toHaveProperty('InvalidDoNotDisruptAnnotation');
    await say({ 'karpenter.sh/do-not-disrupt': '2 days' });
    await world.clock.advance(1000);
    expect((await world.events(key.name)).InvalidDoNotDisruptAnnotation).toContain('write "true", or how long');
    await say({ team: 'blue' });
    await world.clock.advance(5 * MINUTE);
    const { items } = await world.client.list(EVENTS);
    const told = items.filter(({ reason }) => reason === 'InvalidDoNotDisruptAnnotation');
    expect(told).toMatchObject([{ type: 'Warning', count: 1, involvedObject: { kind: 'Pod', name: key.name } }]);
    await world.end();
  });
});

describe('a node that is too old', () => {
  it('is replaced first, within budgets that name no reason', async () => {
    const budgets = [{ nodes: '0', reasons: ['Drifted' as const] }, { nodes: '1' }];
    const world = await withFleet(2, aPool('general', { disruption: { budgets }, template: { expireAfter: '10m' } }));
    const before = await claimNames(world);
    await world.clock.advance(6 * MINUTE);
    expect(await claimNames(world)).toEqual(before);
    for (let step = 0; step < 40; step++) {
      await world.clock.advance(5000);
      expect((await goingClaims(world)).length).toBeLessThanOrEqual(1);
      expect(await runningPods(world)).toBeGreaterThanOrEqual(1);
    }
    expect((await claimNames(world)).filter((name) => before.includes(name))).toEqual([]);
    await world.end();
  });
});

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

describe('a plan', () => {
  it('is dropped where others began between its making and its turn, and made anew soon', async () => {
    let open: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const begin = Commands.prototype.begin;
    // The first of two replacements begins just when a plan for the third node is made.
    const beginning = vi.spyOn(Commands.prototype, 'begin').mockImplementation(function (this: Commands, command) {
      open?.();
      return begin.call(this, command);
    });
    let asked = 0;
    let third = '';
    const planning = vi.spyOn(Consolidation.prototype, 'plan').mockImplementation(async (look) => {
      if (third === '' || asked++ > 0) return [];
      await gate;
      return [aDeparture(look, third)];
    });
    const begun = hearBegun();
    onTestFinished(() => [beginning, planning].forEach((spy) => void spy.mockRestore()));
    const world = await withFleet(3);
    const [first = '', second = '', last = ''] = await claimNames(world);
    third = last;
    await world.clock.advance(15_000);
    expect(asked).toBe(1);
    for (const name of [first, second]) await drift(world, name);
    await world.clock.advance(5000);
    expect((await goingClaims(world)).map(({ metadata }) => metadata.name)).toEqual([first, second]);
    expect(asked).toBeGreaterThan(1);
    const labels = { consolidation_type: 'multi' };
    expect(await world.metrics.read('karpenter_voluntary_disruption_failed_validations_total', labels)).toBe(1);
    expect(begun()).toEqual([[]]);
    await world.end();
  });

  it('has its method told what was begun of it, where that is less', async () => {
    let nodes: readonly string[] = [];
    const planning = vi.spyOn(Consolidation.prototype, 'plan').mockImplementation(async (look) => {
      const planned = nodes.map((name) => aDeparture(look, name));
      nodes = [];
      return planned;
    });
    onTestFinished(() => planning.mockRestore());
    const begun = hearBegun();
    const world = await withFleet(2, aPool('general', { disruption: { budgets: [{ nodes: '1' }] } }));
    expect(begun()).toEqual([]);
    nodes = await claimNames(world);
    const [first] = nodes;
    await world.clock.advance(15_000);
    expect(begun()).toEqual([[expect.objectContaining({ id: `of-${first}` })]]);
    await world.end();
  });

  it('for nodes whose pods are to go to a claim on its way does not begin when the claim is gone by then', async () => {
    const planning = vi.spyOn(Consolidation.prototype, 'plan').mockImplementation(async (look) => {
      const candidates = look.nodes.flatMap((state) => look.candidate(state, 'graceful') ?? []);
      const command = { id: look.newId(), reason: 'Underutilized', disruption: 'graceful', candidates } as const;
      return candidates.length === 0 ? [] : [{ ...command, newNodes: [], needs: ['general-gone'], receivers: [] }];
    });
    onTestFinished(() => planning.mockRestore());
    const world = await withFleet(1);
    const [name = ''] = await claimNames(world);
    const pods = (await world.client.list(PODS)).items.map(({ metadata }) => metadata.uid);
    await world.clock.advance(5 * MINUTE);
    expect(planning).toHaveBeenCalled();
    expect((await world.client.list(PODS)).items.map(({ metadata }) => metadata.uid)).toEqual(pods);
    expect((await world.events(name)).DisruptionBlocked).toContain('general-gone, which was to come up first');
    await world.end();
  });
});

describe('what a disruption left behind', () => {
  it('is cleaned: a taint and a reason without a command', async () => {
    const world = await withFleet(1);
    const [name = ''] = await claimNames(world);
    const taints = [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }];
    await world.client.patch(NODES, { name }, { type: 'merge', body: { spec: { taints } } });
    const { status } = (await world.claim(name))!;
    const lastTransitionTime = toTimestamp(world.clock.now());
    const left = { type: 'DisruptionReason', status: 'True', reason: 'Drifted', message: '', lastTransitionTime };
    const body = { status: { conditions: [...(status?.conditions ?? []), left] } };
    await world.client.patch(NODE_CLAIMS, { name }, { type: 'merge', body }, { subresource: 'status' });
    await world.clock.advance(MINUTE);
    expect((await world.node(name))?.spec?.taints ?? []).toEqual([]);
    expect(await world.condition(name, 'DisruptionReason')).toBeUndefined();
    await world.end();
  });
});
