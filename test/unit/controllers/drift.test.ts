/** Nodes that are not what their pool asks for any more, or too old, and what takes their place, in virtual time. */
import { describe, expect, it } from 'vitest';
import { isTrue } from '../../../src/apis/karpenter/conditions.ts';
import { LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS, type Deployment } from '../../../src/apis/kubernetes/workloads.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_REPLACES } from '../../../src/apis/spindrift/annotations.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { type Fault, FaultyClient, type Verb } from '../../../src/kube/testkit/faulty-client.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { ANY_NUMBER, drift, MINUTE, SMALL, withFleet } from './testkit/equal-fleet.ts';
import { claimNames, claimsOf, goingClaims, relabel, runningPods } from './testkit/fleet-facts.ts';
import { aPodBudget, aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

async function pendingPods({ client }: FleetWorld): Promise<number> {
  return (await client.list(PODS)).items.filter(({ spec }) => !spec.nodeName).length;
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

  it('leaves no second replacement behind where the answer to the first one is lost', async () => {
    let lose = false;
    const through = (client: KubeClient, clock: Clock): KubeClient => {
      const fault = (verb: Verb, kind: string): Fault | undefined => {
        if (!lose || verb !== 'create' || kind !== 'nodeclaims') return undefined;
        lose = false;
        return { kind: 'unanswered' };
      };
      // The cache shows the claim after the command was given up.
      return new FaultyClient({ client, clock, fault, lagMs: 500 });
    };
    const pool = aPool('general', { disruption: { ...ANY_NUMBER, consolidateAfter: 'Never' } });
    const world = await withFleet(1, pool, { through });
    lose = true;
    await relabel(world, 'general');
    await world.clock.advance(10 * MINUTE);
    expect(lose).toBe(false);
    expect(await claimNames(world)).toHaveLength(1);
    await world.end();
  });

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
