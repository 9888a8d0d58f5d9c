/** Days in the life of a cluster, in virtual time: pods come, clouds misbehave, the process is killed. */
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePool } from '../../../src/apis/karpenter/node-pool.ts';
import { EVENTS } from '../../../src/apis/kubernetes/event.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { keyOf } from '../../../src/apis/kubernetes/object.ts';
import { PODS, type Pod, type PodSpec } from '../../../src/apis/kubernetes/pod.ts';
import {
  POD_DISRUPTION_BUDGETS,
  type PodDisruptionBudget,
} from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { resourceAmounts } from '../../../src/apis/kubernetes/pod-requests.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { type FaultSettings, NO_FAULTS } from '../../../src/cloud/simulated/account-settings.ts';
import { anAccount, aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { aPod } from '../../../src/embedded/testkit/objects.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { aPodBudget, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld, type FleetWorldOptions } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

function aPool(name: string, nodeClass = 'default', requirements: readonly object[] = []): NodePool {
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: nodeClass };
  const template = { metadata: { labels: { team: name } }, spec: { requirements, nodeClassRef } };
  return { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name }, spec: { template } } as never;
}

async function start(pools: readonly NodePool[], options: FleetWorldOptions = {}): Promise<FleetWorld> {
  const world = await FleetWorld.start(options);
  for (const pool of pools) await world.client.create(NODE_POOLS, pool);
  await world.clock.advance(1000);
  return world;
}

async function addPods(world: FleetWorld, prefix: string, count: number, spec: Partial<PodSpec> = {}): Promise<void> {
  for (let index = 0; index < count; index++)
    await world.client.create(
      PODS,
      aPod(`${prefix}-${index}`, { labels: { app: prefix }, requests: { cpu: '500m' }, spec }),
    );
}

/** Virtual milliseconds until so many pods of that name run. */
async function untilRunning(world: FleetWorld, prefix: string, count: number): Promise<number> {
  const startedAt = world.clock.elapsed();
  for (let step = 0; step < 3000; step++) {
    const { items } = await world.client.list(PODS);
    const running = items.filter(
      ({ metadata, status }) => metadata.name?.startsWith(prefix) && status?.phase === 'Running',
    );
    if (running.length === count) return world.clock.elapsed() - startedAt;
    await world.clock.advance(100);
  }
  throw new Error(`not all ${prefix} pods run`);
}

/** The nodes that have more pods, of half a core each, than they have room for. */
async function overcommitted(world: FleetWorld): Promise<string[]> {
  const { items: pods } = await world.client.list(PODS);
  const { items: nodes } = await world.client.list(NODES);
  return nodes.flatMap(({ metadata, status }) => {
    const here = pods.filter(({ spec }) => spec.nodeName === metadata.name);
    const millicores = Number(resourceAmounts(status?.allocatable).cpu);
    return here.length * 500 > millicores ? [`${metadata.name}: ${here.length} pods on ${millicores}m`] : [];
  });
}

describe('provisioning', () => {
  /** One pod, alone on its node, whose claim is deleted. */
  async function deletedUnder(annotations: Record<string, string>, budgets: readonly PodDisruptionBudget[] = []) {
    const pool = aPool('web');
    const disruption = { consolidateAfter: '30s', budgets: [{ nodes: '100%' }] };
    const eager = { ...pool, spec: { ...pool.spec, disruption } } as unknown as NodePool;
    const world = await start([eager], { slowHeartbeats: true });
    for (const budget of budgets) await world.client.create(POD_DISRUPTION_BUDGETS, budget);
    await world.client.create(DEPLOYMENTS, aWorkload('held', 1, '500m', { annotations }));
    await untilRunning(world, 'held', 1);
    const [claim] = (await world.client.list(NODE_CLAIMS)).items;
    await world.client.delete(NODE_CLAIMS, { name: claim?.metadata.name ?? '' });
    await world.clock.advance(120 * MINUTE);
    return world;
  }

  it('makes one place for a pod that should leave a node and does not, and not one after the other', async () => {
    const budget = aPodBudget('held', { maxUnavailable: 1 });
    // The API server evicts no pod of two budgets.
    const world = await deletedUnder({}, [budget, { ...budget, metadata: { ...budget.metadata, name: 'another' } }]);
    expect(world.launched.size).toBe(2);
    await world.end();
  });

  it('buys nothing for a pod that stays on a node that goes, until it may leave', async () => {
    const annotation = 'karpenter.sh/do-not-disrupt';
    const world = await deletedUnder({ [annotation]: 'true' });
    expect(world.launched.size).toBe(1);
    const [pod] = (await world.client.list(PODS)).items;
    const body = { metadata: { annotations: { [annotation]: null } } };
    await world.client.patch(PODS, keyOf(pod as Pod), { type: 'merge', body });
    await world.clock.advance(MINUTE);
    await untilRunning(world, 'held', 1);
    expect((await world.client.list(PODS)).items[0]?.metadata.uid).not.toBe(pod?.metadata.uid);
    expect(world.launched.size).toBe(2);
    await world.end();
  });

  it('buys nothing for a pod whose budget never lets it go', async () => {
    const world = await deletedUnder({}, [aPodBudget('held', { maxUnavailable: 0 })]);
    expect(world.launched.size).toBe(1);
    await world.end();
  });

  it('keeps the limits of a pool also where launches fall back on larger machines', async () => {
    const pool = aPool('limited');
    const limited = { ...pool, spec: { ...pool.spec, limits: { cpu: '9' } } } as NodePool;
    const world = await start([limited], { account: { catalogue: [aType('small', 2), aType('large', 8)] } });
    // Nobody knows yet: the launches find out, and two that take the other type would be too many.
    world.cloud.account('default')?.override({ instanceType: 'small', capacity: 0 });
    const apart = [{ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } }];
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: apart } };
    await addPods(world, 'web', 2, { affinity });
    await world.clock.advance(MINUTE);
    expect([...world.cloud.fleet.list()].map(({ instanceType }) => instanceType)).toEqual(['large']);
    await world.end();
  });

  it.each<[string, Partial<FaultSettings>]>([
    ['hang', { hangRate: 1 }],
    ['fail', { errorRate: 1 }],
    ['find no capacity', { launchFailureRate: 1 }],
    ['are denied', { denied: true }],
  ])(
    'gives the pods of one pool their nodes in the same time when all launches of another pool %s',
    async (_, trouble) => {
      let tried = false;
      const time = async (faults: FaultSettings): Promise<number> => {
        const world = await start([aPool('good'), aPool('bad', 'bad')]);
        await world.addNodeClass('bad', { faults });
        await world.clock.advance(1000);
        await addPods(world, 'of-bad', 40, { nodeSelector: { team: 'bad' } });
        // The other pool has been in trouble for minutes when the pods come.
        await world.clock.advance(5 * MINUTE);
        const { items } = await world.client.list(NODE_CLAIMS);
        tried = items.some(({ metadata }) => metadata.labels?.['karpenter.sh/nodepool'] === 'bad');
        await addPods(world, 'of-good', 40, { nodeSelector: { team: 'good' } });
        const taken = await untilRunning(world, 'of-good', 40);
        await world.end();
        return taken;
      };
      const undisturbed = await time(NO_FAULTS);
      expect(tried).toBe(true);
      expect(await time({ ...NO_FAULTS, ...trouble })).toBeLessThan(undisturbed + 1000);
    },
  );

  it('launches exactly as many machines into a reservation as it has slots, however many pods want one each', async () => {
    const apart = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'apart' } } };
    const reservation = { id: 'res-1', instanceType: 'small', zone: 'zone-a', count: 5, match: 'targeted' } as const;
    const world = await start([aPool('default')], { account: { reservations: [reservation] } });
    const capacityTypes: string[] = [];
    world.cloud.fleet.onChange(({ state, capacityType }) => {
      if (state === 'pending') capacityTypes.push(capacityType);
    });
    await addPods(world, 'apart', 200, {
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
    });
    await untilRunning(world, 'apart', 200);
    const refused = (await world.metrics.read('karpenter_cloudprovider_errors_total', { method: 'Create' })) ?? 0;
    expect(capacityTypes.filter((type) => type === 'reserved')).toHaveLength(5);
    expect(capacityTypes).toHaveLength(200);
    expect(refused).toBe(0);
    await world.end();
  });

  it('says on pods that their machine could not be had', async () => {
    const faults = { ...NO_FAULTS, launchFailureRate: 1 };
    const world = await start([aPool('default')], { account: { faults } });
    await addPods(world, 'waiting', 1);
    await world.clock.advance(MINUTE);
    expect(await world.events('waiting-0')).toHaveProperty('InsufficientCapacityError');
    await world.end();
  });

  it('tries again when what had no capacity is in the market again, although nobody says so', async () => {
    const world = await start([aPool('general')], { account: { overrides: [{ capacity: 0 }] } });
    await addPods(world, 'web', 1);
    await world.clock.advance(MINUTE);
    world.cloud.configure('default', anAccount());
    // Three minutes after the launches failed, and a minute at most until the next round, and then the machine.
    expect(await untilRunning(world, 'web', 1)).toBeLessThan(4 * MINUTE);
    await world.end();
  });

  it('gives 1,000 pods their nodes and takes all away again, wherever it is killed meanwhile', async () => {
    const world = await start([aPool('default')], { account: { catalogue: [aType('big', 32), aType('huge', 64)] } });
    const random = seededRandom('kills');
    const kill = async (): Promise<void> => {
      await world.clock.advance(random.below(4000));
      await world.killControllers();
      world.startControllers();
    };
    await addPods(world, 'pod', 1000);
    for (let times = 0; times < 8; times++) await kill();
    await untilRunning(world, 'pod', 1000);
    expect(await overcommitted(world)).toEqual([]);
    expect([...world.launched.values()].every((instances) => instances.size === 1)).toBe(true);
    const { items: pods } = await world.client.list(PODS);
    for (const { metadata } of pods) await world.client.delete(PODS, { name: metadata.name!, namespace: 'default' });
    const { items: claims } = await world.client.list(NODE_CLAIMS);
    for (const { metadata } of claims) await world.client.delete(NODE_CLAIMS, { name: metadata.name! });
    for (let times = 0; times < 8; times++) await kill();
    await world.clock.advance(10 * MINUTE);
    expect(world.instances).toBe(0);
    expect((await world.client.list(NODES)).items).toEqual([]);
    expect((await world.client.list(NODE_CLAIMS)).items).toEqual([]);
    expect([...world.launched.values()].every((instances) => instances.size === 1)).toBe(true);
    await world.end();
  });

  it('puts pods on the nodes they were planned for, and opens the nodes to the scheduler when they are there', async () => {
    const world = await start([aPool('general')]);
    const closed = new Set<string>();
    const watching = new AbortController();
    const watch = (async () => {
      for await (const event of world.client.watch(NODES, {}, { signal: watching.signal })) {
        if (event.type === 'BOOKMARK' || event.object.spec?.unschedulable !== true) continue;
        expect(event.object.metadata.annotations).toHaveProperty('spindrift.dev/opening');
        closed.add(event.object.metadata.name ?? '');
      }
    })();
    await addPods(world, 'planned', 20);
    await untilRunning(world, 'planned', 20);
    await world.clock.advance(MINUTE);
    const nodes = (await world.client.list(NODES)).items;
    expect(nodes.length).toBeGreaterThan(0);
    expect(new Set(nodes.map(({ metadata }) => metadata.name))).toEqual(closed);
    for (const { metadata, spec } of nodes) {
      expect(spec?.unschedulable).toBeUndefined();
      expect(metadata.annotations).not.toHaveProperty('spindrift.dev/opening');
    }
    // The scheduler says so of each pod that it finds a place for.
    const { items } = await world.client.list(EVENTS);
    expect(items.filter(({ reason }) => reason === 'Scheduled')).toEqual([]);
    watching.abort();
    await watch;
    await world.end();
  });
});
