/** Services that keep a number of replicas ready on spot, on the embedded cluster with the whole autoscaler, in virtual time. */
import { describe, expect, it } from 'vitest';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../apis/karpenter/labels.ts';
import { NODES, type Node } from '../apis/kubernetes/node.ts';
import { DEPLOYMENTS } from '../apis/kubernetes/workloads.ts';
import {
  ANNOTATION_EXTRA_SPOT_REPLICAS,
  ANNOTATION_INTERRUPT,
  ANNOTATION_READY_REPLICAS,
} from '../apis/spindrift/annotations.ts';
import { machineTypes, spotPrice } from '../cloud/simulated/catalogue.ts';
import { aService, setUpModelCluster } from './testkit/model-cluster.ts';

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

async function setUp(ready: number, extra: number, loading: string) {
  const world = await setUpModelCluster({ capacityTypes: ['spot', 'on-demand'] });
  const { client, clock, nodes, serving } = world;
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
