import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { ANNOTATION_DISRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { writeMark } from '../../../src/controllers/disruption/commands/mark.ts';
import { aCondition } from '../../../src/controllers/testkit/objects.ts';
import { aNode } from '../../../src/embedded/testkit/objects.ts';
import { aPool } from '../../unit/controllers/testkit/fleet-objects.ts';
import { aClaim } from '../../unit/controllers/testkit/fleet-world.ts';
import { WatchedCluster } from '../testkit/watched-cluster.ts';
import { disruptionBudgets } from './disruption-budgets.ts';

const POOL = { name: 'general' };

/** Three nodes with this disruption budget. */
async function fleetOf(most: string): Promise<WatchedCluster> {
  const cluster = await WatchedCluster.start(disruptionBudgets, {});
  const { client } = cluster.world;
  await client.create(NODE_POOLS, aPool('general', { disruption: { budgets: [{ nodes: most }] } }));
  for (const name of ['a', 'b', 'c']) {
    await client.create(NODES, aNode(name));
    await client.create(NODE_CLAIMS, aClaim(name));
    const body = { status: { nodeName: name, conditions: [aCondition('Initialized')] } };
    await client.patch(NODE_CLAIMS, { name }, { type: 'merge', body }, { subresource: 'status' });
  }
  return cluster;
}

async function mark({ ours, world }: WatchedCluster, name: string): Promise<void> {
  const text = writeMark({ id: name, reason: 'Drifted', at: world.clock.now(), needs: [] });
  const body = { metadata: { annotations: { [ANNOTATION_DISRUPTION]: text } } };
  await ours.patch(NODE_CLAIMS, { name }, { type: 'merge', body });
}

const edit = ({ world }: WatchedCluster, nodes: string) =>
  world.client.patch(NODE_POOLS, POOL, { type: 'merge', body: { spec: { disruption: { budgets: [{ nodes }] } } } });

describe('the budgets of a pool', () => {
  it('are broken when more nodes go at once than they allow', async () => {
    await using cluster = await fleetOf('1');
    await mark(cluster, 'a');
    expect(cluster.broken).toEqual([]);
    await mark(cluster, 'b');
    expect(cluster.broken).toEqual([expect.stringContaining('2 nodes of pool general go at once')]);
  });

  it('are those of before for what was decided before an edit, and not for long', async () => {
    await using cluster = await fleetOf('1');
    await edit(cluster, '0');
    await mark(cluster, 'a');
    expect(cluster.broken).toEqual([]);
    await cluster.minute();
    await cluster.minute();
    await mark(cluster, 'b');
    expect(cluster.broken).toEqual([expect.stringContaining('its budgets allow 0 of 3')]);
  });

  it('do not count a claim whose node is gone', async () => {
    await using cluster = await fleetOf('1');
    await mark(cluster, 'a');
    await cluster.world.client.delete(NODES, { name: 'a' });
    await mark(cluster, 'b');
    expect(cluster.broken).toEqual([]);
  });
});
