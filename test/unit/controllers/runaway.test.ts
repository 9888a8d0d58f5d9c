/** An hour of nodes that do not help the pods they are launched for: how many are launched, and what people are told. */
import { describe, expect, it } from 'vitest';
import { NODE_POOLS, type NodePool } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import type { FleetWorld } from './testkit/fleet-world.ts';
import { oneHourOf, TROUBLES } from './testkit/runaway.ts';

const MINUTE = 60_000;

it.each(TROUBLES.map((trouble) => [trouble.name, trouble] as const))(
  'launches few machines in an hour of %s',
  async (_, trouble) => {
    const { machines } = await oneHourOf(trouble);
    expect(machines).toBeLessThanOrEqual(trouble.most);
    expect(machines).toBeGreaterThan(0);
  },
);

describe('launches that do not help', () => {
  const tainted = TROUBLES.find(({ name }) => name.startsWith('a taint'))!;
  const general = async (world: FleetWorld): Promise<NodePool> => world.client.get(NODE_POOLS, { name: 'general' });

  it('are told on the pod, the claim and the pool, and counted', async () => {
    await oneHourOf(tainted, async (world) => {
      await world.clock.advance(5 * MINUTE);
      const [pod] = (await world.client.list(PODS)).items.filter(({ metadata }) => metadata.name?.startsWith('web-'));
      const { LaunchBackedOff } = await world.events(pod?.metadata.name ?? '');
      expect(LaunchBackedOff).toMatch(
        /^Nodes were launched \d times for the pod, and it runs on none of them; the next launch is in \dm; node general-/,
      );
      const conditions = (await general(world)).status?.conditions;
      expect(conditions?.find(({ type }) => type === 'LaunchesHelp')).toMatchObject({
        ...{ status: 'False', reason: 'NodesNotUsed' },
        message: expect.stringContaining('the node is as planned'),
      });
      const labels = { nodepool: 'general', reason: 'unused' };
      expect(await world.metrics.read('spindrift_provisioning_futile_launches_total', labels)).toBeGreaterThan(1);
      expect(await world.metrics.read('spindrift_provisioning_backed_off_pods', {})).toBe(1);
    });
  });

  it('are counted for no pod once their pods are deleted', async () => {
    await oneHourOf(tainted, async (world) => {
      const backedOff = () => world.metrics.read('spindrift_provisioning_backed_off_pods', {});
      await world.clock.advance(5 * MINUTE);
      expect(await backedOff()).toBe(1);
      await world.client.delete(DEPLOYMENTS, { namespace: 'default', name: 'web' });
      await world.clock.advance(MINUTE);
      expect(await backedOff()).toBe(0);
    });
  });

  it('of machines that never join are told to the pods that wait for them', async () => {
    const joinless = TROUBLES.find(({ name }) => name === 'nodes that never join')!;
    await oneHourOf(joinless, async (world) => {
      await world.clock.advance(20 * MINUTE);
      const [pod] = (await world.client.list(PODS)).items;
      const { FailedScheduling } = await world.events(pod?.metadata.name ?? '');
      expect(FailedScheduling).toMatch(
        /NodePool general launches no nodes for another \d+m because its latest machines never joined the cluster$/,
      );
    });
  });

  it('are not forgotten when the process is killed, also where their claims are gone', async () => {
    const { machines } = await oneHourOf(tainted, async (world) => {
      for (let minute = 0; minute < 60; minute += 3) {
        await world.clock.advance(3 * MINUTE - 1000);
        await world.killControllers();
        await world.clock.advance(1000);
        world.startControllers();
      }
    });
    expect(machines).toBeLessThanOrEqual(tainted.most + 1);
  });

  it('are forgotten when the pool is changed: somebody has seen to it', async () => {
    await oneHourOf(tainted, async (world) => {
      await world.clock.advance(20 * MINUTE);
      const before = world.launched.size;
      const body = { spec: { template: { metadata: { labels: { mended: 'yes' } } } } };
      await world.client.patch(NODE_POOLS, { name: 'general' }, { type: 'merge', body });
      await world.clock.advance(MINUTE / 2);
      expect(world.launched.size).toBe(before + 1);
    });
  });
});
