/** Services that keep a number of replicas ready on spot, on the embedded cluster with the whole autoscaler, in virtual time. */
import { describe, expect, it } from 'vitest';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../apis/karpenter/labels.ts';
import { NODES, type Node } from '../apis/kubernetes/node.ts';
import { DEPLOYMENTS, STATEFUL_SETS } from '../apis/kubernetes/workloads.ts';
import { LABEL_SET_NAME, LABEL_WORKER_INDEX } from '../apis/leader-worker-set/labels.ts';
import { LEADER_WORKER_SETS } from '../apis/leader-worker-set/leader-worker-set.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../apis/schema/custom-resource-definition.ts';
import {
  ANNOTATION_EXTRA_SPOT_REPLICAS,
  ANNOTATION_INTERRUPT,
  ANNOTATION_READY_REPLICAS,
} from '../apis/spindrift/annotations.ts';
import { openDefinition } from '../cloud/cluster-api/core/open-definitions.ts';
import { machineTypes, spotPrice } from '../cloud/simulated/catalogue.ts';
import { aStatefulSet } from '../embedded/testkit/workloads.ts';
import { aService, setUpModelCluster, T4, T4G } from './testkit/model-cluster.ts';

const MINUTE = 60_000;
const MACHINES = new Map(machineTypes().map((machine) => [machine.name, machine]));

function asking(ready: number, extra: number) {
  return { [ANNOTATION_READY_REPLICAS]: `${ready}`, [ANNOTATION_EXTRA_SPOT_REPLICAS]: `${extra}` };
}

function priceOf({ metadata }: Node): { paid: number; onDemand: number } {
  const { labels = {} } = metadata;
  const machine = MACHINES.get(labels[LABEL_INSTANCE_TYPE] ?? '');
  const onDemand = machine?.usdPerHour ?? 0;
  const isSpot = labels[LABEL_CAPACITY_TYPE] === 'spot';
  return { onDemand, paid: isSpot && machine ? spotPrice(machine, labels[LABEL_ZONE] ?? '') : onDemand };
}

async function setUp(ready: number, extra: number, loading: string, soldOut: readonly string[] = []) {
  const world = await setUpModelCluster({ capacityTypes: ['spot', 'on-demand'] });
  const { client, clock, nodes, serving } = world;
  await world.soldOut(soldOut);
  await client.create(DEPLOYMENTS, aService('chat', ready, { annotations: asking(ready, extra), loading }));
  const replicas = async (): Promise<number> =>
    (await client.get(DEPLOYMENTS, { namespace: 'default', name: 'chat' })).spec.replicas ?? 0;
  /** Nodes by what they are paid as. */
  const capacity = async (): Promise<Record<string, number>> => {
    const counts: Record<string, number> = { spot: 0, 'on-demand': 0 };
    for (const { metadata } of await nodes()) {
      const type = metadata.labels?.[LABEL_CAPACITY_TYPE] ?? '';
      counts[type] = (counts[type] ?? 0) + 1;
    }
    return counts;
  };
  const interrupt = async (names: readonly string[], notice: string): Promise<void> => {
    const body = { metadata: { annotations: { [ANNOTATION_INTERRUPT]: notice } } };
    for (const name of names) await client.patch(NODES, { name }, { type: 'merge', body });
  };
  /** The fewest replicas that served within so many seconds, and what was paid, beside the same machines on demand for what serves. */
  const watch = async (seconds: number): Promise<{ fewest: number; paid: number; onDemand: number }> => {
    let fewest = Number.POSITIVE_INFINITY;
    let paid = 0;
    for (let second = 0; second < seconds; second++) {
      await clock.advance(1000);
      fewest = Math.min(fewest, (await serving()).length);
      for (const node of await nodes()) paid += priceOf(node).paid / 3600;
    }
    const [cheapest = 0] = (await nodes()).map((node) => priceOf(node).onDemand).sort((a, b) => a - b);
    return { fewest, paid, onDemand: (ready * cheapest * seconds) / 3600 };
  };
  return { ...world, replicas, capacity, interrupt, watch };
}

describe('a service that keeps four replicas ready', () => {
  it('is filled in on demand until spot is ready, and is all on spot then, spread over spot pools (4, 23)', async () => {
    const { clock, serving, replicas, capacity, nodes, end } = await setUp(4, 1, '60s');
    await clock.advance(30_000);
    expect(await replicas()).toBe(9);
    expect(await capacity()).toEqual({ spot: 5, 'on-demand': 4 });
    await clock.advance(15 * MINUTE);
    expect(await replicas()).toBe(5);
    expect(await capacity()).toEqual({ spot: 5, 'on-demand': 0 });
    expect(await serving()).toHaveLength(5);
    // Machines with a T4G are sold in two zones; a larger one in the same zone is not worth its price.
    const pools = (await nodes()).map(
      ({ metadata: { labels = {} } }) => `${labels[LABEL_INSTANCE_TYPE]} ${labels[LABEL_ZONE]}`,
    );
    expect([...new Set(pools)].sort()).toEqual(['g5g.xlarge sim-1a', 'g5g.xlarge sim-1b']);
    await end();
  });

  it('serves with all of them while two of its four spot machines are taken back with notice, for far less than on demand (4, 9)', async () => {
    const { clock, nodes, interrupt, watch, replicas, capacity, end } = await setUp(4, 0, '60s');
    await clock.advance(6 * MINUTE);
    expect(await capacity()).toEqual({ spot: 4, 'on-demand': 0 });
    const lost = (await nodes()).slice(0, 2).map(({ metadata }) => metadata.name ?? '');
    await interrupt(lost, '120s');
    const during = await watch(600);
    // The drain begins when the replacements serve: not one request less is answered.
    expect(during.fewest).toBe(4);
    expect(await replicas()).toBe(4);
    expect(await capacity()).toEqual({ spot: 4, 'on-demand': 0 });
    const after = await watch(50 * 60);
    const share = (during.paid + after.paid) / (during.onDemand + after.onDemand);
    expect(share).toBeLessThan(0.6);
    await end();
  });

  it('goes on where it was when another replica of Spindrift takes over in the middle', async () => {
    const { clock, nodes, interrupt, watch, replicas, capacity, restart, end } = await setUp(4, 0, '60s');
    await clock.advance(6 * MINUTE);
    const lost = (await nodes()).slice(0, 2).map(({ metadata }) => metadata.name ?? '');
    await interrupt(lost, '120s');
    const before = await watch(20);
    restart();
    const after = await watch(600);
    expect(Math.min(before.fewest, after.fewest)).toBeGreaterThanOrEqual(3);
    expect(await replicas()).toBe(4);
    expect(await capacity()).toEqual({ spot: 4, 'on-demand': 0 });
    await end();
  });

  it('waits for spot with its extra replicas, and serves on demand, where spot is sold out', async () => {
    const { clock, replicas, capacity, serving, soldOut, end } = await setUp(2, 1, '30s', [...T4G, ...T4]);
    await clock.advance(10 * MINUTE);
    // The extra replica is not bought on demand.
    expect(await serving()).toHaveLength(2);
    expect(await capacity()).toEqual({ spot: 0, 'on-demand': 2 });
    await soldOut([]);
    await clock.advance(15 * MINUTE);
    expect(await replicas()).toBe(3);
    expect(await capacity()).toEqual({ spot: 3, 'on-demand': 0 });
    await end();
  });

  it('keeps three of them when two of its five go without any warning (4)', async () => {
    const { clock, nodes, interrupt, watch, capacity, end } = await setUp(4, 1, '60s');
    await clock.advance(6 * MINUTE);
    const lost = (await nodes()).slice(0, 2).map(({ metadata }) => metadata.name ?? '');
    await interrupt(lost, '0s');
    const { fewest } = await watch(600);
    expect(fewest).toBeGreaterThanOrEqual(3);
    expect(await capacity()).toEqual({ spot: 5, 'on-demand': 0 });
    await end();
  });
});

/** A LeaderWorkerSet, and a StatefulSet that has as many pods as it has groups: what its controller makes of it, as far as numbers go. */
async function setUpNumbered(ready: number) {
  const world = await setUpModelCluster({ capacityTypes: ['spot', 'on-demand'] });
  const { client, clock, serving } = world;
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, openDefinition(LEADER_WORKER_SETS));
  // The informer looks for the kind now and then.
  await clock.advance(2 * MINUTE);
  const { template } = aService('chat', ready, { loading: '30s' }).spec;
  const labels = { ...template.metadata?.labels, [LABEL_SET_NAME]: 'chat', [LABEL_WORKER_INDEX]: '0' };
  const leader = { ...template, metadata: { ...template.metadata, labels } };
  const key = { namespace: 'default', name: 'chat' };
  await client.create(LEADER_WORKER_SETS, {
    apiVersion: 'leaderworkerset.x-k8s.io/v1',
    kind: 'LeaderWorkerSet',
    metadata: { ...key, annotations: asking(ready, 0) },
    spec: { replicas: ready, leaderWorkerTemplate: { size: 1, workerTemplate: leader } },
  });
  await client.create(
    STATEFUL_SETS,
    aStatefulSet('chat', { replicas: ready, podManagementPolicy: 'Parallel', template: leader }),
  );
  let fewest = Number.POSITIVE_INFINITY;
  const live = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      const { replicas = 0 } = (await client.get(LEADER_WORKER_SETS, key)).spec;
      await client.patch(STATEFUL_SETS, key, { type: 'merge', body: { spec: { replicas } } });
      await clock.advance(1000);
      fewest = Math.min(fewest, (await serving()).length);
    }
  };
  const lowest = (): number => {
    const was = fewest;
    fewest = Number.POSITIVE_INFINITY;
    return was;
  };
  const groups = async (): Promise<number> => (await client.get(LEADER_WORKER_SETS, key)).spec.replicas ?? 0;
  return { ...world, live, lowest, groups };
}

describe('a service whose highest numbers go first', () => {
  it('is on spot in the end, with its lowest numbers, and serves all the time (4)', async () => {
    const { client, nodes, live, lowest, groups, end } = await setUpNumbered(3);
    const onDemand = async (): Promise<number> =>
      (await nodes()).filter(({ metadata }) => metadata.labels?.[LABEL_CAPACITY_TYPE] === 'on-demand').length;
    await live(60);
    expect(await groups()).toBe(6);
    await live(360);
    expect(await groups()).toBe(3);
    expect(await onDemand()).toBe(0);
    lowest();
    const lost = (await nodes()).slice(0, 2).map(({ metadata }) => metadata.name ?? '');
    const body = { metadata: { annotations: { [ANNOTATION_INTERRUPT]: '120s' } } };
    for (const name of lost) await client.patch(NODES, { name }, { type: 'merge', body });
    await live(600);
    expect(lowest()).toBeGreaterThanOrEqual(3);
    expect(await groups()).toBe(3);
    expect(await onDemand()).toBe(0);
    await end();
  });
});
