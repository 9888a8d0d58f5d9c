import { describe, expect, it } from 'vitest';
import { LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES } from '../../../src/apis/kubernetes/volumes.ts';
import { STATEFUL_SETS } from '../../../src/apis/kubernetes/workloads.ts';
import type { SimulatedInstance } from '../../../src/cloud/simulated/simulated-instance.ts';
import { aStatefulSet } from '../../../src/embedded/testkit/workloads.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { drawStorageClasses } from '../draw/stateful-sets.ts';
import { WatchedCluster } from '../testkit/watched-cluster.ts';
import { statefulPods } from './stateful-pods.ts';

const POD = { name: 'db-0', namespace: 'default' };

/** A StatefulSet of one pod, with a volume created where the pod runs. Nodes are open or closed to the scheduler. */
async function clusterWith(nodes: Record<string, 'open' | 'closed'>): Promise<WatchedCluster> {
  const cluster = await WatchedCluster.start(statefulPods, {});
  const { client, cloud, cluster: embedded } = cluster.world;
  for (const each of drawStorageClasses(seededRandom('storage'))) await client.create(STORAGE_CLASSES, each);
  for (const [zone, door] of Object.entries(nodes)) {
    const providerID = `simulated:///${zone}`;
    await embedded.kubelets.join({ name: `node-${zone}`, labels: { [LABEL_ZONE]: zone }, providerID });
    if (door === 'closed') await shut(cluster, zone);
    cloud.fleet.add({ id: zone, providerID, token: zone, state: 'running', tags: {} } as SimulatedInstance, 0);
  }
  const spec = { storageClassName: 'anywhere', resources: { requests: { storage: '1Gi' } } };
  const volume = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec };
  await client.create(STATEFUL_SETS, aStatefulSet('db', { replicas: 1, volumeClaimTemplates: [volume] }));
  await cluster.world.clock.advance(5000);
  return cluster;
}

async function shut({ world }: WatchedCluster, zone: string): Promise<void> {
  const body = { spec: { unschedulable: true } };
  await world.client.patch(NODES, { name: `node-${zone}` }, { type: 'merge', body });
}

describe('pods of a StatefulSet', () => {
  it('may be asked to leave, and come back to where their volume is', async () => {
    await using cluster = await clusterWith({ a: 'open', b: 'closed' });
    await cluster.ours.evict(POD);
    await cluster.minute();
    expect((await cluster.world.client.get(PODS, POD)).spec.nodeName).toBe('node-a');
    cluster.invariant.rested?.();
    expect(cluster.broken).toEqual([]);
  });

  it('are not to be bound where their volume is not', async () => {
    await using cluster = await clusterWith({ a: 'open', b: 'closed' });
    await shut(cluster, 'a');
    await cluster.ours.evict(POD);
    await cluster.minute();
    await cluster.ours.bind(POD, 'node-b');
    expect(cluster.broken).toEqual(['pod db-0 was bound by us in b, and its volume data-db-0 is in a']);
  });

  it('are not to be bound by us before their volume is made, which nobody makes then', async () => {
    await using cluster = await clusterWith({ a: 'closed' });
    await cluster.ours.bind(POD, 'node-a');
    expect(cluster.broken).toEqual(['pod db-0 was bound to node-a by us, and its volume data-db-0 is not made yet']);
    await cluster.minute();
    cluster.invariant.rested?.();
    expect(cluster.broken.slice(1)).toEqual(['pod db-0 runs, and its volume data-db-0 was never made']);
    expect(
      (await cluster.world.client.get(PERSISTENT_VOLUME_CLAIMS, { ...POD, name: 'data-db-0' })).spec.volumeName,
    ).toBe(undefined);
  });

  it('are not to be removed while their machine may still run them', async () => {
    await using cluster = await clusterWith({ a: 'open' });
    await cluster.ours.delete(PODS, POD, { gracePeriodSeconds: 0 });
    expect(cluster.broken).toEqual(['pod db-0 was removed by us while it may still run on node-a']);
  });

  it('are not to lose their node while its machine is there', async () => {
    await using cluster = await clusterWith({ a: 'open' });
    await cluster.ours.delete(NODES, { name: 'node-a' });
    expect(cluster.broken).toEqual(['node node-a was removed while its machine is there, and pod db-0 may still run']);
  });

  it('may be removed, and their node, once the machine is gone', async () => {
    await using cluster = await clusterWith({ a: 'open' });
    cluster.world.cloud.fleet.remove('a');
    await cluster.ours.delete(PODS, POD, { gracePeriodSeconds: 0 });
    await cluster.ours.delete(NODES, { name: 'node-a' });
    expect(cluster.broken).toEqual([]);
  });
});
