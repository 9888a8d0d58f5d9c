/** Fleets that shrink when their load does, in virtual time. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LABEL_HOSTNAME, LABEL_INITIALIZED, LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DAEMON_SETS, DEPLOYMENTS, type Deployment } from '../../../src/apis/kubernetes/workloads.ts';
import { NO_FAULTS } from '../../../src/cloud/simulated/account-settings.ts';
import { anAccount, aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { aDaemonSet, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import { TopologyLedger } from '../../../src/engine/consolidation/topology-ledger.ts';
import { aPodBudget, aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CONSOLIDATION = { planSteps: 10_000_000 };
const SIZES = { small: '300m', medium: '700m', large: '1500m' } as const;

async function aWorld(disruption: object, replicas = 20): Promise<FleetWorld> {
  const world = await FleetWorld.start({ slowHeartbeats: true, controllers: { consolidation: CONSOLIDATION } });
  await world.client.create(NODE_POOLS, aPool('general', { disruption }));
  for (const [name, cpu] of Object.entries(SIZES))
    await world.client.create(DEPLOYMENTS, aWorkload(name, replicas, cpu));
  await world.clock.advance(10 * MINUTE);
  return world;
}

async function scale(world: FleetWorld, replicas: number): Promise<void> {
  const body = { spec: { replicas } };
  for (const name of Object.keys(SIZES)) {
    await world.client.patch(DEPLOYMENTS, { name, namespace: 'default' }, { type: 'merge', body });
  }
}

/** Cores of the machines that are there. */
async function cores(world: FleetWorld): Promise<number> {
  const { items } = await world.client.list(NODE_CLAIMS);
  return items.reduce((sum, { status }) => sum + Number(status?.capacity?.cpu ?? 0), 0);
}

async function podUids(world: FleetWorld): Promise<string[]> {
  const { items } = await world.client.list(PODS);
  return items.flatMap(({ metadata, status }) => (status?.phase === 'Running' ? [metadata.uid ?? ''] : [])).sort();
}

describe('consolidation', () => {
  it('makes the fleet smaller when the load falls, and every pod runs again', async () => {
    const world = await aWorld({ consolidateAfter: '30s', budgets: [{ nodes: '100%' }] });
    const before = await cores(world);
    await scale(world, 4);
    await world.clock.advance(15 * MINUTE);
    expect(await podUids(world)).toHaveLength(12);
    // 12 pods ask for 10 cores.
    expect(await cores(world)).toBeLessThan(before / 3);
    expect(await cores(world)).toBeLessThanOrEqual(14);
    expect(world.instances).toBe((await world.client.list(NODE_CLAIMS)).items.length);
    await world.end();
  });

  it.each([
    ['are denied', { denied: true }, 12],
    ['never join', { registrationFailureRate: 1 }, 8],
  ])(
    'tries again ever more seldom where the machines that are to take the place of others %s',
    async (_, faults, most) => {
      const world = await FleetWorld.start({ slowHeartbeats: true, controllers: { consolidation: CONSOLIDATION } });
      const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['on-demand'] }];
      const disruption = { consolidateAfter: '30s', budgets: [{ nodes: '100%' }] };
      await world.client.create(NODE_POOLS, aPool('general', { disruption, template: { requirements } }));
      await world.client.create(DEPLOYMENTS, aWorkload('web', 3, '2500m'));
      await world.clock.advance(5 * MINUTE);
      world.cloud.configure('default', anAccount({ faults: { ...NO_FAULTS, ...faults } }));
      const body = { spec: { replicas: 1 } };
      await world.client.patch(DEPLOYMENTS, { name: 'web', namespace: 'default' }, { type: 'merge', body });
      await world.clock.advance(2 * HOUR);
      const labels = { decision: 'replace', reason: 'underutilized', consolidation_type: 'multi' };
      const failures = (await world.metrics.read('karpenter_voluntary_disruption_queue_failures_total', labels)) ?? 0;
      expect(failures).toBeGreaterThan(2);
      expect(failures).toBeLessThanOrEqual(most);
      await world.end();
    },
  );

  it('goes on with a small fleet as soon as a node is gone and its pods have come, one node after the other', async () => {
    const world = await FleetWorld.start({ slowHeartbeats: true, account: { catalogue: [aType('small', 2)] } });
    const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '1' }] };
    await world.client.create(NODE_POOLS, aPool('general', { disruption }));
    for (const name of Object.keys(SIZES)) await world.client.create(DEPLOYMENTS, aWorkload(name, 8, '450m'));
    await world.clock.advance(5 * MINUTE);
    expect(world.instances).toBe(6);
    await scale(world, 2);
    // Four nodes go; each takes ten seconds to end.
    await world.clock.advance(MINUTE);
    expect(await podUids(world)).toHaveLength(6);
    expect(world.instances).toBe(2);
    await world.end();
  });

  it('moves nothing after the first hour of a week in which the load does not change', async () => {
    const world = await aWorld({ consolidateAfter: '0s', budgets: [{ nodes: '100%' }] }, 3);
    await world.clock.advance(50 * MINUTE);
    const launched = world.launched.size;
    const pods = await podUids(world);
    await world.clock.advance(7 * 24 * HOUR);
    expect(world.launched.size).toBe(launched);
    expect(await podUids(world)).toEqual(pods);
    await world.end();
  }, 300_000);

  it('begins when a window closes that let nothing go', async () => {
    // Virtual time begins at midnight.
    const asleep = { nodes: '0', schedule: '0 0 * * *', duration: '2h' };
    const world = await aWorld({ consolidateAfter: '0s', budgets: [asleep, { nodes: '100%' }] });
    const before = await cores(world);
    await scale(world, 4);
    await world.clock.advance(110 * MINUTE - 10 * MINUTE);
    expect(await cores(world)).toBe(before);
    await world.clock.advance(20 * MINUTE);
    expect(await cores(world)).toBeLessThan(before / 2);
    await world.end();
  });

  it('never has fewer pods run than their PodDisruptionBudget wants', async () => {
    const world = await FleetWorld.start({ controllers: { consolidation: CONSOLIDATION } });
    const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
    await world.client.create(NODE_POOLS, aPool('general', { disruption }));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 8, '700m'));
    await world.client.create(DEPLOYMENTS, aWorkload('filler', 12, '1500m'));
    await world.client.create(POD_DISRUPTION_BUDGETS, aPodBudget('web', { maxUnavailable: 1 }));
    await world.clock.advance(5 * MINUTE);
    const body = { spec: { replicas: 1 } };
    await world.client.patch(DEPLOYMENTS, { name: 'filler', namespace: 'default' }, { type: 'merge', body });
    const before = await cores(world);
    for (let step = 0; step < 120; step++) {
      await world.clock.advance(10_000);
      const { items } = await world.client.list(PODS);
      const web = items.filter(({ metadata, status }) => metadata.labels?.app === 'web' && status?.phase === 'Running');
      expect(web.length).toBeGreaterThanOrEqual(7);
    }
    expect(await cores(world)).toBeLessThan(before);
    await world.end();
  });

  describe('of a node whose only pod would have room beside a daemon that it avoids', () => {
    async function besideDaemons(): Promise<FleetWorld> {
      const world = await FleetWorld.start({
        account: { catalogue: [aType('large', 8)] },
        slowHeartbeats: true,
        controllers: { consolidation: CONSOLIDATION },
      });
      const disruption = { consolidateAfter: '30s', budgets: [{ nodes: '100%' }] };
      await world.client.create(NODE_POOLS, aPool('with'));
      await world.client.create(NODE_POOLS, aPool('without', { disruption }));
      const template = aTemplate('agent', 'app', { nodeSelector: { pool: 'with' } });
      await world.client.create(DAEMON_SETS, aDaemonSet('agent', { template }));
      await world.client.create(DEPLOYMENTS, aWorkload('filler', 2, '1500m', { pool: 'with' }));
      await world.clock.advance(2 * MINUTE);
      await world.client.create(DEPLOYMENTS, avoiding('agent', aWorkload('shy', 1, '500m')));
      return world;
    }

    it('leaves it where it is', async () => {
      const world = await besideDaemons();
      await world.clock.advance(3 * MINUTE);
      const [pods, launched] = [await podUids(world), world.launched.size];
      expect(launched).toBe(2);
      await world.clock.advance(HOUR);
      expect(await podUids(world)).toEqual(pods);
      expect(world.launched.size).toBe(launched);
      await world.end();
    });

    it('tries it ever less often if it does not know better', async () => {
      const blind = vi.spyOn(TopologyLedger.prototype, 'allows').mockReturnValue(true);
      onTestFinished(() => blind.mockRestore());
      const world = await besideDaemons();
      await world.clock.advance(HOUR);
      const launched = world.launched.size;
      await world.clock.advance(5 * HOUR);
      // After 40, 80 and 160 minutes; each time the pod comes back to a new node.
      expect(world.launched.size - launched).toBeLessThanOrEqual(3);
      expect(launched).toBeLessThanOrEqual(12);
      expect(blind).toHaveBeenCalled();
      await world.end();
    });
  });

  it('goes on with the others where one node has a daemon that is not to be disrupted', async () => {
    const world = await aWorld({ consolidateAfter: '30s', budgets: [{ nodes: '100%' }] }, 24);
    await world.client.create(DAEMON_SETS, aDaemonSet('agent'));
    await world.clock.advance(MINUTE);
    const { items } = await world.client.list(PODS);
    const agent = items.find(({ metadata }) => metadata.labels?.app === 'agent')?.metadata.name ?? '';
    const body = { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } };
    await world.client.patch(PODS, { name: agent, namespace: 'default' }, { type: 'merge', body });
    const before = await cores(world);
    await scale(world, 8);
    await world.clock.advance(15 * MINUTE);
    expect(await cores(world)).toBeLessThan(before / 2);
    await world.end();
  });

  it('says on nodes that go what is saved, and on those that stay why', async () => {
    const world = await aWorld({ consolidateAfter: '0s', budgets: [{ nodes: '100%' }] });
    const names = (await world.client.list(NODE_CLAIMS)).items.map(({ metadata }) => metadata.name ?? '');
    await scale(world, 4);
    await world.clock.advance(10 * MINUTE);
    const said = await Promise.all(names.map((name) => world.events(name)));
    expect(said.map(({ ConsolidationApproved }) => ConsolidationApproved ?? '').join()).toMatch(
      /saves \$0\.\d+ per hour/,
    );
    await world.end();
  });

  describe('of a fleet whose load has fallen far', () => {
    /** Services that are spread over the zones, scaled down so that the spread is left uneven. */
    async function fallen(): Promise<FleetWorld> {
      const world = await FleetWorld.start({ slowHeartbeats: true, controllers: { consolidation: CONSOLIDATION } });
      const disruption = { consolidateAfter: '30s', budgets: [{ nodes: '100%' }] };
      await world.client.create(NODE_POOLS, aPool('general', { disruption }));
      for (const [name, cpu] of Object.entries(SIZES))
        await world.client.create(DEPLOYMENTS, spreadOverZones(aWorkload(name, 24, cpu)));
      await world.clock.advance(10 * MINUTE);
      await scale(world, 5);
      await world.clock.advance(MINUTE / 4);
      return world;
    }

    it('moves each pod at most once, to where it was planned', async () => {
      const world = await fallen();
      const before = await podUids(world);
      expect(before).toHaveLength(15);
      const seen = new Set(before);
      for (let step = 0; step < 600; step++) {
        await world.clock.advance(1000);
        for (const { metadata } of (await world.client.list(PODS)).items) seen.add(metadata.uid ?? '');
      }
      expect(await podUids(world)).toHaveLength(15);
      // 15 pods ask for 12.5 cores.
      expect(await cores(world)).toBeLessThanOrEqual(16);
      expect(seen.size).toBeLessThanOrEqual(30);
      expect(await closedNodes(world)).toEqual([]);
      await world.end();
    });

    it('leaves no node closed when the process is killed while pods are on their way', async () => {
      const world = await fallen();
      for (let step = 0; step < 300 && (await closedNodes(world)).length === 0; step++) await world.clock.advance(200);
      expect(await closedNodes(world)).not.toEqual([]);
      await world.killControllers();
      world.startControllers();
      await world.clock.advance(10 * MINUTE);
      expect(await closedNodes(world)).toEqual([]);
      expect(await podUids(world)).toHaveLength(15);
      expect(await cores(world)).toBeLessThanOrEqual(20);
      await world.end();
    });
  });
});

function spreadOverZones(workload: Deployment): Deployment {
  const { template } = workload.spec;
  const labelSelector = { matchLabels: { app: workload.metadata.name ?? '' } };
  const constraint = {
    topologyKey: LABEL_ZONE,
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector,
  } as const;
  const spec = { ...template.spec, topologySpreadConstraints: [constraint] };
  return { ...workload, spec: { ...workload.spec, template: { ...template, spec } } };
}

/** Nodes that are up and take pods only from us. */
async function closedNodes(world: FleetWorld): Promise<string[]> {
  const { items } = await world.client.list(NODES);
  return items.flatMap(({ metadata, spec }) =>
    spec?.unschedulable === true && metadata.labels?.[LABEL_INITIALIZED] === 'true' ? [metadata.name ?? ''] : [],
  );
}

/** The workload, with pods that are on no node of that app. */
function avoiding(app: string, workload: Deployment): Deployment {
  const { template } = workload.spec;
  const term = { labelSelector: { matchLabels: { app } }, topologyKey: LABEL_HOSTNAME };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  return { ...workload, spec: { ...workload.spec, template: { ...template, spec: { ...template.spec, affinity } } } };
}
