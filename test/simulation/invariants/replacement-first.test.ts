import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS, type PodSpec } from '../../../src/apis/kubernetes/pod.ts';
import { ANNOTATION_INTERRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { aNode, aPod } from '../../../src/embedded/testkit/objects.ts';
import { aClaim } from '../../unit/controllers/testkit/fleet-world.ts';
import { WatchedCluster } from '../testkit/watched-cluster.ts';
import { replacementFirst } from './replacement-first.ts';

/** A machine with a pod is interrupted while there are no faults. */
async function interrupted(spec: Partial<PodSpec> = {}): Promise<WatchedCluster> {
  const cluster = await WatchedCluster.start(replacementFirst, {});
  const { client } = cluster.world;
  await client.create(NODES, aNode('old', { unschedulable: true }));
  await client.create(PODS, aPod('pod', { spec: { nodeName: 'old', ...spec } }));
  await client.create(NODE_CLAIMS, aClaim('old', {}, { annotations: { [ANNOTATION_INTERRUPTION]: 'spot' } }));
  const body = { status: { nodeName: 'old' } };
  await client.patch(NODE_CLAIMS, { name: 'old' }, { type: 'merge', body }, { subresource: 'status' });
  cluster.invariant.mended?.();
  cluster.invariant.happens?.({ what: 'interrupt', which: 0, machines: 1, noticeMs: 120_000 });
  return cluster;
}

const evict = ({ ours }: WatchedCluster) => ours.evict({ name: 'pod', namespace: 'default' });
const launch = ({ ours }: WatchedCluster) => ours.create(NODE_CLAIMS, aClaim('new'));
const successor = ({ world }: WatchedCluster, spec: Partial<PodSpec> = {}) =>
  world.client.create(PODS, aPod('successor', { spec }));

describe('who is asked to leave a machine that is taken back', () => {
  it('is asked after the claim is written that takes its place', async () => {
    await using late = await interrupted();
    await evict(late);
    await successor(late);
    await launch(late);
    expect(late.broken).toEqual(['pod pod was asked to leave old before claim new was written, which takes its place']);
    await using inTime = await interrupted();
    await launch(inTime);
    await evict(inTime);
    await successor(inTime);
    expect(inTime.broken).toEqual([]);
  });

  it('may be asked before claims are written for others, once its successor has a place', async () => {
    await using cluster = await interrupted();
    await evict(cluster);
    await successor(cluster, { nodeName: 'old' });
    await launch(cluster);
    expect(cluster.broken).toEqual([]);
  });

  it('is not judged where only the scheduler can place its successor', async () => {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    await using cluster = await interrupted({ volumes });
    await evict(cluster);
    await successor(cluster, { volumes });
    await launch(cluster);
    expect(cluster.broken).toEqual([]);
  });
});
