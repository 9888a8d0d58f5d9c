import { describe, expect, it } from 'vitest';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { aPod } from '../../../src/embedded/testkit/objects.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { aPool } from '../../unit/controllers/testkit/fleet-objects.ts';
import { drawAccount } from '../draw/account.ts';
import { WatchedCluster } from '../testkit/watched-cluster.ts';
import { placedSoon } from './placed-soon.ts';

/** A cluster without nodes, and a pod with this cpu request. */
async function clusterWith(cpu: string): Promise<WatchedCluster> {
  const cluster = await WatchedCluster.start(placedSoon, { account: drawAccount(seededRandom('account')) });
  const { client } = cluster.world;
  const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['spot'] }];
  await client.create(NODE_POOLS, aPool('general', { template: { requirements } }));
  await client.create(PODS, aPod('waits', { requests: { cpu } }));
  return cluster;
}

async function minutes(cluster: WatchedCluster, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) await cluster.minute();
}

describe('a pod that could have a place', () => {
  it('may wait for four minutes when the trouble is over, and no longer', async () => {
    await using cluster = await clusterWith('1');
    cluster.invariant.mended?.();
    await minutes(cluster, 5);
    expect(cluster.broken).toEqual([]);
    await minutes(cluster, 2);
    expect(cluster.broken[0]).toMatch(/^pod waits could have a place since 2030-01-01T00:01:00Z and waits/);
  });

  it('may wait for longer while there is trouble', async () => {
    await using cluster = await clusterWith('1');
    await minutes(cluster, 10);
    expect(cluster.broken).toEqual([]);
  });
});

describe('a pod that no machine is large enough for', () => {
  it('may wait for ever', async () => {
    await using cluster = await clusterWith('100');
    cluster.invariant.mended?.();
    await minutes(cluster, 10);
    expect(cluster.broken).toEqual([]);
  });
});
