import { describe, expect, it } from 'vitest';
import { PODS } from '../../../apis/kubernetes/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../apis/kubernetes/volumes.ts';
import { CONTROLLER_REVISIONS, STATEFUL_SETS, type StatefulSet } from '../../../apis/kubernetes/workloads.ts';
import { Kubelets } from '../../kubelet/kubelets.ts';
import { Scheduler } from '../../scheduler/scheduler.ts';
import { aStatefulSet, aTemplate } from '../../testkit/workloads.ts';
import { World } from '../../testkit/world.ts';
import { StatefulSetController } from './stateful-set-controller.ts';

const SLOW = { 'spindrift.dev/ready-after': '10s', 'spindrift.dev/stop-after': '2s' };

async function withSet(spec: Partial<StatefulSet['spec']> = {}): Promise<World> {
  const world = new World();
  const kubelets = new Kubelets(world);
  await world.start(kubelets, new Scheduler(world), new StatefulSetController(world));
  await kubelets.join({ name: 'n1' });
  await world.create(
    STATEFUL_SETS,
    aStatefulSet('db', { replicas: 3, template: aTemplate('db', 'app:1', {}, SLOW), ...spec }),
  );
  await world.settle();
  return world;
}

const staying = async (world: World): Promise<string[]> =>
  (await world.list(PODS))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata, spec }) => `${metadata.name} ${spec.containers[0]!.image}`)
    .sort();
const changeImage = (world: World, more: object = {}) =>
  world.change(STATEFUL_SETS, 'db', {
    spec: { template: { spec: { containers: [{ name: 'main', image: 'app:2' }] } }, ...more },
  });

describe('a StatefulSet', () => {
  it('starts its pods in order, each when the one before is ready', async () => {
    await using world = await withSet();
    expect(await staying(world)).toEqual(['db-0 app:1']);
    await world.settle(10_000);
    expect(await staying(world)).toEqual(['db-0 app:1', 'db-1 app:1']);
    await world.settle(20_000);
    const set = await world.get(STATEFUL_SETS, 'db');
    expect(set.status).toMatchObject({
      observedGeneration: set.metadata.generation,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
    });
    expect(set.status?.currentRevision).toBe(set.status?.updateRevision);
    const pod = await world.get(PODS, 'db-1');
    expect(pod.metadata.labels).toMatchObject({
      'statefulset.kubernetes.io/pod-name': 'db-1',
      'apps.kubernetes.io/pod-index': '1',
      'controller-revision-hash': set.status?.updateRevision,
    });
    expect(pod.spec).toMatchObject({ hostname: 'db-1', subdomain: 'db' });
  });

  it('starts all at once when it may', async () => {
    await using world = await withSet({ podManagementPolicy: 'Parallel' });
    expect(await staying(world)).toHaveLength(3);
  });

  it('is scaled down from the highest number, one after the other', async () => {
    await using world = await withSet();
    await world.settle(40_000);
    await world.change(STATEFUL_SETS, 'db', { spec: { replicas: 1 } });
    await world.settle();
    expect(await staying(world)).toEqual(['db-0 app:1', 'db-1 app:1']);
    await world.settle(2_000);
    expect(await staying(world)).toEqual(['db-0 app:1']);
  });

  it('makes a pod of the same name again when one is deleted', async () => {
    await using world = await withSet();
    await world.settle(40_000);
    const before = await world.get(PODS, 'db-1');
    await world.client.delete(PODS, { name: 'db-1', namespace: 'default' });
    await world.settle(20_000);
    const after = await world.get(PODS, 'db-1');
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
  });

  it('rolls a new template out from the highest number, each when the one before is ready', async () => {
    await using world = await withSet();
    await world.settle(40_000);
    await changeImage(world);
    await world.settle(3_000);
    expect(await staying(world)).toEqual(['db-0 app:1', 'db-1 app:1', 'db-2 app:2']);
    const rolling = await world.get(STATEFUL_SETS, 'db');
    expect(rolling.status).toMatchObject({ updatedReplicas: 1, currentReplicas: 2 });
    expect(rolling.status?.currentRevision).not.toBe(rolling.status?.updateRevision);
    await world.settle(60_000);
    expect(await staying(world)).toEqual(['db-0 app:2', 'db-1 app:2', 'db-2 app:2']);
    const done = await world.get(STATEFUL_SETS, 'db');
    expect(done.status?.currentRevision).toBe(done.status?.updateRevision);
    expect((await world.list(CONTROLLER_REVISIONS)).map(({ revision }) => revision).sort()).toEqual([1, 2]);
  });

  it('leaves the pods below its partition as they were, also when they are made anew', async () => {
    await using world = await withSet();
    await world.settle(40_000);
    await changeImage(world, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } });
    await world.settle(60_000);
    expect(await staying(world)).toEqual(['db-0 app:1', 'db-1 app:1', 'db-2 app:2']);
    await world.client.delete(PODS, { name: 'db-0', namespace: 'default' });
    await world.settle(60_000);
    expect(await staying(world)).toEqual(['db-0 app:1', 'db-1 app:1', 'db-2 app:2']);
  });

  it('changes a pod only when someone deletes it, if it is told so', async () => {
    await using world = await withSet({ updateStrategy: { type: 'OnDelete' } });
    await world.settle(40_000);
    await changeImage(world);
    await world.settle(60_000);
    expect(await staying(world)).toEqual(['db-0 app:1', 'db-1 app:1', 'db-2 app:1']);
    await world.client.delete(PODS, { name: 'db-0', namespace: 'default' });
    await world.settle(60_000);
    expect(await staying(world)).toEqual(['db-0 app:2', 'db-1 app:1', 'db-2 app:1']);
  });

  it('gives each number claims of its own, which stay', async () => {
    const volumeClaimTemplates = [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ];
    await using world = await withSet({ replicas: 1, volumeClaimTemplates });
    const names = async () => (await world.list(PERSISTENT_VOLUME_CLAIMS)).map(({ metadata }) => metadata.name);
    expect(await names()).toEqual(['data-db-0']);
    expect((await world.get(PODS, 'db-0')).spec.volumes).toContainEqual({
      name: 'data',
      persistentVolumeClaim: { claimName: 'data-db-0' },
    });
    await world.change(STATEFUL_SETS, 'db', { spec: { replicas: 0 } });
    await world.settle(60_000);
    expect(await world.list(PODS)).toEqual([]);
    expect(await names()).toEqual(['data-db-0']);
  });
});
