import { describe, expect, it } from 'vitest';
import { LABEL_NODE_POOL } from '../../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { ANNOTATION_DISRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { writeMark } from '../../../src/controllers/disruption/commands/mark.ts';
import type { EpochMs } from '../../../src/platform/clock.ts';
import { aPool } from '../../unit/controllers/testkit/fleet-objects.ts';
import { aClaim } from '../../unit/controllers/testkit/fleet-world.ts';
import { WatchedCluster } from '../testkit/watched-cluster.ts';
import { staticPools } from './static-pools.ts';

const LABELS = { [LABEL_NODE_POOL]: 'fixed' };

async function withNodes(up: number): Promise<WatchedCluster> {
  const cluster = await WatchedCluster.start(staticPools, {});
  const { client } = cluster.world;
  await client.create(NODE_POOLS, aPool('fixed', { spec: { replicas: 2 } }));
  for (let index = 0; index < up; index++) {
    await client.create(NODE_CLAIMS, aClaim(`c-${index}`, {}, { labels: LABELS }));
    const initialized = { type: 'Initialized', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' };
    const body = { status: { conditions: [initialized] } };
    await client.patch(NODE_CLAIMS, { name: `c-${index}` }, { type: 'merge', body }, { subresource: 'status' });
  }
  return cluster;
}

describe('a static pool', () => {
  it.each([
    [1, 1],
    [2, 0],
    [3, 1],
  ])('with %d of 2 nodes when all is well breaks %d promises', async (up, promises) => {
    await using cluster = await withNodes(up);
    cluster.invariant.rested?.();
    expect(cluster.broken).toHaveLength(promises);
  });

  it('loses no node because it is empty, and may lose one that has drifted', async () => {
    await using cluster = await withNodes(2);
    const mark = (reason: 'Empty' | 'Drifted') => writeMark({ id: 'x', reason, at: 0 as EpochMs, needs: [] });
    const annotate = (name: string, text: string) =>
      cluster.ours.patch(
        NODE_CLAIMS,
        { name },
        { type: 'merge', body: { metadata: { annotations: { [ANNOTATION_DISRUPTION]: text } } } },
      );
    await annotate('c-0', mark('Drifted'));
    expect(cluster.broken).toEqual([]);
    await annotate('c-1', mark('Empty'));
    expect(cluster.broken).toEqual(['claim c-1 of fixed, which keeps a fixed number of nodes, goes as Empty']);
  });
});
