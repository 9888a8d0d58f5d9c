import { describe, expect, it } from 'vitest';
import { PODS } from '../../../apis/kubernetes/pod.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type PersistentVolume,
  STORAGE_CLASSES,
  type StorageClass,
} from '../../../apis/kubernetes/volumes.ts';
import { Kubelets } from '../../kubelet/kubelets.ts';
import { Scheduler } from '../../scheduler/scheduler.ts';
import { aPod } from '../../testkit/objects.ts';
import { World } from '../../testkit/world.ts';
import { VolumeController } from './volume-controller.ts';

const ZONE = 'topology.kubernetes.io/zone';

async function withStorage(storageClass: Partial<StorageClass> = {}): Promise<World> {
  const world = new World();
  const kubelets = new Kubelets(world);
  await world.start(kubelets, new Scheduler(world), new VolumeController(world));
  await kubelets.join({ name: 'n1', labels: { [ZONE]: 'a' } });
  await kubelets.join({ name: 'n2', labels: { [ZONE]: 'b' } });
  await world.create(STORAGE_CLASSES, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'fast' },
    provisioner: 'disk.example.com',
    volumeBindingMode: 'WaitForFirstConsumer',
    reclaimPolicy: 'Delete',
    ...storageClass,
  });
  await world.create(PERSISTENT_VOLUME_CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default' },
    spec: { storageClassName: 'fast', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } } },
  });
  await world.settle();
  return world;
}

const user = (name: string, nodeSelector: Record<string, string> = {}) =>
  aPod(name, { spec: { nodeSelector, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] } });
const phase = async (world: World) => (await world.get(PERSISTENT_VOLUME_CLAIMS, 'data')).status?.phase;

describe('a claim', () => {
  it('that waits for its first pod gets a volume in the zone of that pod, which later pods go to as well', async () => {
    await using world = await withStorage();
    expect(await phase(world)).toBe('Pending');
    await world.create(PODS, user('first', { [ZONE]: 'b' }));
    await world.settle();
    expect(await phase(world)).toBe('Bound');
    const [volume] = await world.list(PERSISTENT_VOLUMES);
    expect(volume?.status?.phase).toBe('Bound');
    expect(volume?.spec).toMatchObject({
      capacity: { storage: '5Gi' },
      claimRef: { name: 'data' },
      csi: { driver: 'disk.example.com' },
    });
    await world.create(PODS, user('second'), user('third'));
    await world.settle();
    expect((await world.list(PODS)).map(({ spec }) => spec.nodeName)).toEqual(['n2', 'n2', 'n2']);
  });

  it('gets a volume at once when its class says so', async () => {
    await using world = await withStorage({ volumeBindingMode: 'Immediate' });
    expect(await phase(world)).toBe('Bound');
  });

  it('takes the smallest of the volumes made by hand that fit', async () => {
    await using world = await withStorage({
      volumeBindingMode: 'Immediate',
      provisioner: 'kubernetes.io/no-provisioner',
    });
    expect(await phase(world)).toBe('Pending');
    const volume = (name: string, storage: string): PersistentVolume => ({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        storageClassName: 'fast',
        accessModes: ['ReadWriteOnce'],
        capacity: { storage },
        hostPath: { path: '/x' },
      },
    });
    await world.create(PERSISTENT_VOLUMES, volume('small', '1Gi'), volume('large', '100Gi'), volume('right', '10Gi'));
    await world.settle();
    expect((await world.get(PERSISTENT_VOLUME_CLAIMS, 'data')).spec.volumeName).toBe('right');
  });

  it('that is deleted takes its volume with it when the class says so', async () => {
    await using world = await withStorage({ volumeBindingMode: 'Immediate' });
    expect(await world.list(PERSISTENT_VOLUMES)).toHaveLength(1);
    await world.client.delete(PERSISTENT_VOLUME_CLAIMS, { name: 'data', namespace: 'default' });
    await world.settle();
    expect(await world.list(PERSISTENT_VOLUMES)).toEqual([]);
  });

  it('that is deleted leaves a volume that is to be retained, as released', async () => {
    await using world = await withStorage({ volumeBindingMode: 'Immediate', reclaimPolicy: 'Retain' });
    await world.client.delete(PERSISTENT_VOLUME_CLAIMS, { name: 'data', namespace: 'default' });
    await world.settle();
    expect((await world.list(PERSISTENT_VOLUMES)).map(({ status }) => status?.phase)).toEqual(['Released']);
  });
});
