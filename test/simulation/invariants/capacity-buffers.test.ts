import { describe, expect, it } from 'vitest';
import { CAPACITY_BUFFERS, type CapacityBuffer } from '../../../src/apis/autoscaling/capacity-buffer.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { ANNOTATION_PLANNED_FOR } from '../../../src/state/planned-for.ts';
import { aClaim } from '../../unit/controllers/testkit/fleet-world.ts';
import { WatchedCluster } from '../testkit/watched-cluster.ts';
import { capacityBuffers } from './capacity-buffers.ts';

const KEY = { namespace: 'default', name: 'spare' };
const STILL = { account: { reservations: [] } as never };

async function withBuffer(message: string, status = 'False'): Promise<WatchedCluster> {
  const cluster = await WatchedCluster.start(capacityBuffers, STILL);
  const { client } = cluster.world;
  const spec = { podTemplateRef: { name: 'one' }, replicas: 1 };
  const buffer = { apiVersion: 'autoscaling.x-k8s.io/v1beta1', kind: 'CapacityBuffer', metadata: KEY, spec };
  await client.create(CAPACITY_BUFFERS, buffer as CapacityBuffer);
  const condition = {
    type: 'Provisioning',
    status,
    reason: 'Said',
    message,
    lastTransitionTime: '2030-01-01T00:00:00Z',
  };
  const body = { status: { replicas: 1, conditions: [condition] } };
  await client.patch(CAPACITY_BUFFERS, KEY, { type: 'merge', body }, { subresource: 'status' });
  return cluster;
}

describe('a buffer', () => {
  it('has its room when all is well, or says why not', async () => {
    for (const [message, status, promises] of [
      ['', 'True', 0],
      ['There is room for 0 of 1 pods on nodes that are up, for 1 there is none: the limits are used up', 'False', 0],
      ['', 'False', 1],
    ] as const) {
      await using cluster = await withBuffer(message, status);
      cluster.invariant.mended?.();
      expect(cluster.broken).toHaveLength(promises);
    }
  });

  it('has nothing launched for it where nothing changes', async () => {
    await using cluster = await withBuffer('', 'True');
    const { client } = cluster.world;
    const { uid } = (await client.get(CAPACITY_BUFFERS, KEY)).metadata;
    const launch = (name: string, demand: string) =>
      cluster.ours.create(
        NODE_CLAIMS,
        aClaim(name, {}, { annotations: { [ANNOTATION_PLANNED_FOR]: `*#2 ${demand}:1#1` } }),
      );
    await launch('for-a-pod', 'other');
    cluster.invariant.rested?.();
    expect(cluster.broken).toEqual([]);
    await launch('for-the-buffer', uid ?? '');
    cluster.invariant.rested?.();
    expect(cluster.broken).toHaveLength(1);
    expect(cluster.broken[0]).toContain('for-the-buffer');
  });
});
