/** Pods that ReplicaSets should delete first, because their nodes go or should go. */
import { expect, it } from 'vitest';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS, type Pod } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { ANNOTATION_POD_DELETION_COST } from '../../../src/state/eviction-cost.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

/** What pods cost by the node they are on. */
async function costsByNode(world: FleetWorld): Promise<Record<string, (string | undefined)[]>> {
  const byNode = Map.groupBy((await world.client.list(PODS)).items, ({ spec }) => spec.nodeName ?? '');
  const costOf = ({ metadata }: Pod) => metadata.annotations?.[ANNOTATION_POD_DELETION_COST];
  return Object.fromEntries([...byNode].map(([node, pods]) => [node, pods.map(costOf)]));
}

async function aWorld(podDeletionCost: boolean): Promise<FleetWorld> {
  const world = await FleetWorld.start({
    ...{ slowHeartbeats: true, account: { catalogue: [aType('small', 2)] } },
    controllers: { podDeletionCost },
  });
  const disruption = { consolidateAfter: '1h', budgets: [{ nodes: '100%' }] };
  await world.client.create(NODE_POOLS, aPool('general', { disruption }));
  await world.client.create(DEPLOYMENTS, aWorkload('web', 4, '900m'));
  await world.clock.advance(3 * MINUTE);
  return world;
}

it('tells pods apart by their nodes, and those on a node that is closed go first', async () => {
  const world = await aWorld(true);
  const before = await costsByNode(world);
  expect(Object.keys(before)).toHaveLength(2);
  expect(Object.values(before).flat().toSorted()).toEqual(['-1', '-1', '-2', '-2']);
  const [first = ''] = Object.keys(before);
  await world.client.patch(NODES, { name: first }, { type: 'merge', body: { spec: { unschedulable: true } } });
  await world.clock.advance(2 * MINUTE);
  expect((await costsByNode(world))[first]).toEqual(['-2147483648', '-2147483648']);
  await world.end();
});

it('leaves the costs of a service with ready replicas alone, and minds its protected pods all the same', async () => {
  const world = await aWorld(true);
  const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
  const service = aWorkload('model', 1, '100m', { annotations });
  const metadata = { ...service.metadata, annotations: { 'spindrift.dev/ready-replicas': '1' } };
  await world.client.create(DEPLOYMENTS, { ...service, metadata });
  await world.clock.advance(3 * MINUTE);
  const pods = (await world.client.list(PODS)).items;
  const model = pods.find((pod) => pod.metadata.name?.startsWith('model-'));
  const beside = (await costsByNode(world))[model?.spec.nodeName ?? ''];
  expect(beside).toHaveLength(3);
  expect(new Set(beside)).toEqual(new Set([undefined]));
  await world.end();
});

it('writes nothing unless it is asked to', async () => {
  const world = await aWorld(false);
  expect(Object.values(await costsByNode(world)).flat()).toEqual([undefined, undefined, undefined, undefined]);
  await world.end();
});
