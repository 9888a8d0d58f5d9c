/** Nodes that are replaced or taken away because nobody needs them as they are, in virtual time. */
import { describe, expect, it } from 'vitest';
import { isTrue } from '../../../src/apis/karpenter/conditions.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const SMALL = { catalogue: [aType('small', 2)] };

async function claimNames(world: FleetWorld): Promise<string[]> {
  return (await world.client.list(NODE_CLAIMS)).items.map(({ metadata }) => metadata.name ?? '').sort();
}

async function runningPods(world: FleetWorld): Promise<number> {
  return (await world.client.list(PODS)).items.filter(({ status }) => status?.phase === 'Running').length;
}

describe('disruption', () => {
  it('takes nodes away that no pod needs, once consolidateAfter is over', async () => {
    const world = await FleetWorld.start({ account: SMALL });
    const budgets = [{ nodes: '100%' }];
    await world.client.create(NODE_POOLS, aPool('general', { disruption: { consolidateAfter: '5m', budgets } }));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 3, '1500m'));
    await world.clock.advance(3 * MINUTE);
    expect(await claimNames(world)).toHaveLength(3);
    await world.client.patch(
      DEPLOYMENTS,
      { name: 'web', namespace: 'default' },
      { type: 'merge', body: { spec: { replicas: 1 } } },
    );
    await world.clock.advance(4 * MINUTE);
    expect(await claimNames(world)).toHaveLength(3);
    await world.clock.advance(3 * MINUTE);
    expect(await claimNames(world)).toHaveLength(1);
    expect(world.instances).toBe(1);
    expect(await runningPods(world)).toBe(1);
    await world.end();
  });

  it('replaces nodes whose pool has changed, and keeps the old ones until the new ones are up', async () => {
    const world = await FleetWorld.start({ account: SMALL });
    await world.client.create(NODE_POOLS, aPool('general', { disruption: { budgets: [{ nodes: '1' }] } }));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 3, '1500m'));
    await world.clock.advance(3 * MINUTE);
    const before = await claimNames(world);
    expect(before).toHaveLength(3);
    const body = { spec: { template: { metadata: { labels: { team: 'blue' } } } } };
    await world.client.patch(NODE_POOLS, { name: 'general' }, { type: 'merge', body });
    await world.clock.advance(10_000);
    expect(await world.condition(before[0]!, 'Drifted')).toMatchObject({ status: 'True', reason: 'NodePoolDrifted' });
    let most = 0;
    for (let step = 0; step < 60; step++) {
      await world.clock.advance(10_000);
      expect(await runningPods(world)).toBeGreaterThanOrEqual(2);
      const { items } = await world.client.list(NODE_CLAIMS);
      most = Math.max(most, items.filter((claim) => !isTrue(claim, 'InstanceTerminating')).length);
    }
    expect(most).toBe(4);
    const after = (await world.client.list(NODE_CLAIMS)).items;
    expect(after).toHaveLength(3);
    expect(after.filter(({ metadata }) => before.includes(metadata.name!))).toEqual([]);
    expect(after.every(({ metadata }) => metadata.labels?.team === 'blue')).toBe(true);
    expect(await runningPods(world)).toBe(3);
    await world.end();
  });
});
