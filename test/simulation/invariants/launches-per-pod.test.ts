import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import type { SimulatedInstance } from '../../../src/cloud/simulated/simulated-instance.ts';
import { aPod } from '../../../src/embedded/testkit/objects.ts';
import { aClaim } from '../../unit/controllers/testkit/fleet-world.ts';
import { WatchedCluster } from '../testkit/watched-cluster.ts';
import { launchesPerPod } from './launches-per-pod.ts';

let machines = 0;

/** Launches this many machines, a minute apart. */
async function launch(cluster: WatchedCluster, count: number): Promise<void> {
  for (let machine = 0; machine < count; machine++) {
    cluster.invariant.changed?.({ id: `i-${++machines}`, state: 'pending' } as SimulatedInstance);
    await cluster.minute();
  }
}

describe('machines', () => {
  it('may be launched a few times for a pod that has no place, and no more', async () => {
    await using cluster = await WatchedCluster.start(launchesPerPod, {});
    await cluster.world.client.create(PODS, aPod('waits'));
    await launch(cluster, 7);
    expect(cluster.broken).toEqual([]);
    await launch(cluster, 1);
    expect(cluster.broken).toEqual(['8 machines were launched in half an hour in which 1 pods needed a place']);
  });

  it('may be launched for ever, from time to time', async () => {
    await using cluster = await WatchedCluster.start(launchesPerPod, {});
    await cluster.world.client.create(PODS, aPod('waits'));
    for (let times = 0; times < 20; times++) {
      await launch(cluster, 1);
      for (let minute = 0; minute < 9; minute++) await cluster.minute();
    }
    expect(cluster.broken).toEqual([]);
  });

  it('may be launched for the pods of nodes that go', async () => {
    await using cluster = await WatchedCluster.start(launchesPerPod, {});
    const { client } = cluster.world;
    for (const name of ['a', 'b']) await client.create(PODS, aPod(name, { spec: { nodeName: 'node' } }));
    await client.create(NODE_CLAIMS, aClaim('goes', {}, { annotations: { 'spindrift.dev/interruption': 'spot' } }));
    const body = { status: { nodeName: 'node' } };
    await client.patch(NODE_CLAIMS, { name: 'goes' }, { type: 'merge', body }, { subresource: 'status' });
    await cluster.minute();
    await launch(cluster, 10);
    expect(cluster.broken).toEqual([]);
    await launch(cluster, 1);
    expect(cluster.broken).toHaveLength(1);
  });
});
