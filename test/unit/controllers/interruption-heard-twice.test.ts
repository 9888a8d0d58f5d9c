/** One interruption that the cloud's queue and the agent on the node both tell of, in virtual time. */
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { EVENTS } from '../../../src/apis/kubernetes/event.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { interruptionCondition } from '../../../src/apis/spindrift/interruption-condition.ts';
import { aDeployment, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import type { EpochMs } from '../../../src/platform/clock.ts';
import { Chronicle, isHealthy } from './testkit/chronicle.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const NOTICE_MS = 120_000;
const REPLICAS = 2;

/** A fleet of one spot node with two pods, and its two ways to hear that its machine goes. */
async function start() {
  const chronicle = new Chronicle();
  const world = await FleetWorld.start({ through: chronicle.through });
  const { client, clock } = world;
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  const spot = { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] };
  const template = { spec: { requirements: [spot], nodeClassRef } };
  const pool = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'default' }, spec: { template } };
  await client.create(NODE_POOLS, pool as never);
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '900m' } } }];
  const pods = aTemplate('web', 'app:1', { containers }, { 'spindrift.dev/stop-after': '5s' });
  await client.create(DEPLOYMENTS, aDeployment('web', { replicas: REPLICAS, template: pods }));
  await clock.advance(60_000);
  const claims = (await client.list(NODE_CLAIMS)).items;
  expect(claims).toHaveLength(1);
  const { metadata, status } = claims[0]!;
  const [name, node] = [metadata.name!, status!.nodeName!];
  const goesAt = clock.now() + NOTICE_MS;
  chronicle.clear();
  return {
    ...{ world, chronicle, name, node },
    /** The message in the queue of the cloud. */
    queue: async (): Promise<void> => {
      expect(world.cloud.interrupt(status!.providerID!, goesAt - clock.now())).toBe(true);
    },
    /** What an agent writes, which may have heard of a time that is a little earlier or later. */
    agent: async (deviationMs: number): Promise<void> => {
      const at = clock.now();
      const deadline = (goesAt + deviationMs) as EpochMs;
      const said = { kind: 'spot-interruption', at, deadline, source: 'imds', detail: 'Spot' } as const;
      const known = (await client.get(NODES, { name: node })).status?.conditions ?? [];
      const body = { status: { conditions: [...known, interruptionCondition(said, at)] } };
      await client.patch(NODES, { name: node }, { type: 'merge', body }, { subresource: 'status' });
    },
  };
}

type Started = Awaited<ReturnType<typeof start>>;

/** Lets it be seen through, and expects what one interruption does. */
async function expectOnce({ world, chronicle, name, node }: Started): Promise<void> {
  await world.clock.advance(NOTICE_MS + 60_000);
  const done = chronicle.entries.map(({ what }) => what);
  expect(done).toEqual(['claim', 'claim deleted', ...Array(REPLICAS).fill('evicted')]);
  expect(await world.claim(name)).toBeUndefined();
  const running = (await world.client.list(PODS)).items.filter(isHealthy);
  expect(running).toHaveLength(REPLICAS);
  expect(running.map(({ spec }) => spec.nodeName)).not.toContain(node);
  expect(world.instances).toBe(1);
  const told = (await world.client.list(EVENTS)).items
    .filter(({ reason }) => reason === 'SpotInterrupted')
    .map(({ involvedObject, count }) => `${involvedObject.kind} ${involvedObject.name} ${count}`);
  expect(told.sort()).toEqual([`Node ${node} 1`, `NodeClaim ${name} 1`]);
  expect([...world.launched.values()].map(({ size }) => size)).toEqual([1, 1]);
}

describe('an interruption that the queue and the agent both tell of', () => {
  for (const first of ['queue', 'agent'] as const)
    for (const gapMs of [0, 3000, 15_000])
      for (const deviationMs of [-5000, 0, 5000])
        it(`is acted on once: ${first} first, the other ${gapMs} ms later, the agent's time off by ${deviationMs} ms`, async () => {
          const started = await start();
          const { world, queue, agent } = started;
          const tell = [queue, () => agent(deviationMs)];
          if (first === 'agent') tell.reverse();
          await tell[0]!();
          await world.clock.advance(gapMs);
          await tell[1]!();
          await world.clock.advance(1000);
          expect(await world.metrics.read('karpenter_interruption_received_messages_total')).toBe(2);
          expect(await world.metrics.read('spindrift_interruptions_total', { kind: 'spot-interruption' })).toBe(1);
          await expectOnce(started);
          await world.end();
        });

  it('is acted on once though the process is killed between the two, and hears the agent again', async () => {
    for (const first of ['queue', 'agent'] as const) {
      const started = await start();
      const { world, queue, agent } = started;
      const tell = [queue, () => agent(0)];
      if (first === 'agent') tell.reverse();
      await tell[0]!();
      await world.clock.advance(1000);
      await world.killControllers();
      await tell[1]!();
      world.startControllers();
      await expectOnce(started);
      await world.end();
    }
  });
});
