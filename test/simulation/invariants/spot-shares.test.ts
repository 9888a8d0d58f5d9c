import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_INTERRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { SPOT_POLICIES, type SpotPolicy } from '../../../src/apis/spindrift/spot-policy.ts';
import { COMMAND_REASONS, type CommandReason } from '../../../src/controllers/disruption/commands/command.ts';
import { writeMark } from '../../../src/controllers/disruption/commands/mark.ts';
import { aNode, aPod } from '../../../src/embedded/testkit/objects.ts';
import { ANNOTATION_OFFERINGS } from '../../../src/state/planned-offerings.ts';
import { aPool } from '../../unit/controllers/testkit/fleet-objects.ts';
import { aClaim } from '../../unit/controllers/testkit/fleet-world.ts';
import { WatchedCluster } from '../testkit/watched-cluster.ts';
import { spotShares } from './spot-shares.ts';

const ON_DEMAND = 'small/zone-a/on-demand/0.1';
const SPOT = 'small/zone-a/spot/0.03';
const OTHER_SPOT = 'small/zone-b/spot/0.03';

/** A pool with a policy, and one used node per offering. */
async function fleetOf(asked: object, offerings: readonly string[]): Promise<WatchedCluster> {
  const policy = {
    apiVersion: 'spindrift.dev/v1alpha1',
    kind: 'SpotPolicy',
    metadata: { name: 'careful' },
    spec: { nodePoolSelector: { matchLabels: { spot: 'careful' } }, ...asked },
  } as unknown as SpotPolicy;
  const cluster = await WatchedCluster.start(spotShares, { policies: [policy] });
  const { client } = cluster.world;
  await client.create(SPOT_POLICIES, policy);
  const pool = aPool('general');
  await client.create(NODE_POOLS, { ...pool, metadata: { ...pool.metadata, labels: { spot: 'careful' } } });
  for (const [index, offering] of offerings.entries()) {
    await launch(cluster, `node-${index}`, offering, cluster.world.client);
    const status = { nodeName: `node-${index}` };
    await client.patch(NODE_CLAIMS, { name: status.nodeName }, { type: 'merge', body: { status } }, STATUS);
    await client.create(NODES, aNode(status.nodeName));
    await client.create(PODS, aPod(`pod-${index}`, { spec: status }));
  }
  await cluster.minute();
  return cluster;
}

const STATUS = { subresource: 'status' } as const;

async function launch({ ours }: WatchedCluster, name: string, offering: string, client = ours): Promise<void> {
  await client.create(NODE_CLAIMS, aClaim(name, {}, { annotations: { [ANNOTATION_OFFERINGS]: offering } }));
}

async function mark({ ours, world }: WatchedCluster, name: string, reason: CommandReason): Promise<void> {
  const text = writeMark({ id: 'command', reason, at: world.clock.now(), needs: [] });
  const body = { metadata: { annotations: { [ANNOTATION_DISRUPTION]: text } } };
  await ours.patch(NODE_CLAIMS, { name }, { type: 'merge', body });
}

/** The violations reported a minute later. */
async function saidOf(cluster: WatchedCluster, deeds: () => Promise<void>): Promise<readonly string[]> {
  await deeds();
  await cluster.minute();
  return cluster.broken;
}

describe('the shares of a SpotPolicy', () => {
  it.each(COMMAND_REASONS)('are broken when an on-demand node goes that is asked for: %s', async (reason) => {
    await using cluster = await fleetOf({ onDemand: { base: 1 } }, [ON_DEMAND, SPOT]);
    expect(await saidOf(cluster, () => mark(cluster, 'node-0', reason))).toEqual([
      expect.stringContaining('pool general is to have 1 of 1 nodes on demand and lacks more of them than before'),
    ]);
  });

  it('are kept when another comes for it, and when a node goes that nobody asks for', async () => {
    await using cluster = await fleetOf({ onDemand: { base: 1 } }, [ON_DEMAND, SPOT, OTHER_SPOT]);
    const deeds = async (): Promise<void> => {
      await launch(cluster, 'new', ON_DEMAND);
      await mark(cluster, 'node-0', 'Drifted');
      await mark(cluster, 'node-1', 'Underutilized');
    };
    expect(await saidOf(cluster, deeds)).toEqual([]);
  });

  it('do not count for a node that must go and that nobody is on any more', async () => {
    await using cluster = await fleetOf({ onDemand: { base: 1 } }, [ON_DEMAND, SPOT]);
    await cluster.world.client.delete(PODS, { name: 'pod-0', namespace: 'default' }, { gracePeriodSeconds: 0 });
    expect(await saidOf(cluster, () => mark(cluster, 'node-0', 'Unhealthy'))).toEqual([]);
  });

  it('do not count for nodes that must go where the limits of their pool may leave no room for another', async () => {
    await using cluster = await fleetOf({ onDemand: { base: 1 } }, [ON_DEMAND, SPOT]);
    const body = { spec: { limits: { nodes: '2' } } };
    await cluster.world.client.patch(NODE_POOLS, { name: 'general' }, { type: 'merge', body });
    expect(await saidOf(cluster, () => mark(cluster, 'node-0', 'Expired'))).toEqual([]);
  });

  it('are broken when spot is launched for pods where on-demand nodes are missing', async () => {
    await using cluster = await fleetOf({ onDemand: { base: 2 } }, [ON_DEMAND, SPOT]);
    expect(await saidOf(cluster, () => launch(cluster, 'new', OTHER_SPOT))).toEqual([
      expect.stringContaining('pool general is to have 2 of 3 nodes on demand, and spot is launched for pods'),
    ]);
  });

  it('are judged by all that is written together', async () => {
    await using cluster = await fleetOf({ onDemand: { percent: 50 } }, [ON_DEMAND, SPOT]);
    const deeds = async (): Promise<void> => {
      await launch(cluster, 'new-spot', SPOT);
      await launch(cluster, 'new-on-demand', ON_DEMAND);
    };
    expect(await saidOf(cluster, deeds)).toEqual([]);
  });

  it('are broken when nodes are launched into a spot pool that is full', async () => {
    await using cluster = await fleetOf({ maxPercentPerSpotPool: 50 }, [ON_DEMAND, SPOT]);
    expect(await saidOf(cluster, () => launch(cluster, 'new', SPOT))).toEqual([
      expect.stringContaining('pool general may have 1 of 3 nodes in one spot pool, and more are launched for pods'),
    ]);
  });

  it('are broken when consolidation crowds a spot pool by more than what cannot be divided evenly', async () => {
    const offerings = [SPOT, SPOT, SPOT, OTHER_SPOT, OTHER_SPOT, ON_DEMAND];
    await using cluster = await fleetOf({ maxPercentPerSpotPool: 50 }, offerings);
    expect(await saidOf(cluster, () => mark(cluster, 'node-3', 'Underutilized'))).toEqual([]);
    const merge = async (): Promise<void> => {
      await mark(cluster, 'node-4', 'Underutilized');
      await mark(cluster, 'node-5', 'Underutilized');
    };
    expect(await saidOf(cluster, merge)).toEqual([
      expect.stringContaining('pool general may have 50 % of its nodes in one spot pool, which consolidation crowds'),
    ]);
  });

  it('are not judged by what happens while capacity runs out, or while nodes are taken away', async () => {
    await using cluster = await fleetOf({ onDemand: { base: 1 } }, [ON_DEMAND, SPOT, SPOT]);
    const taken = async (): Promise<void> => {
      await mark(cluster, 'node-0', 'Drifted');
      const body = { metadata: { annotations: { [ANNOTATION_INTERRUPTION]: 'spot-interruption' } } };
      await cluster.ours.patch(NODE_CLAIMS, { name: 'node-1' }, { type: 'merge', body });
    };
    expect(await saidOf(cluster, taken)).toEqual([]);
    cluster.invariant.happens?.({ what: 'exhaust', pattern: { capacityType: 'on-demand' }, forMs: 60_000 });
    expect(await saidOf(cluster, () => launch(cluster, 'new', SPOT))).toEqual([]);
  });

  it('are broken when a fleet that had its on-demand nodes has rested without them', async () => {
    await using cluster = await fleetOf({ onDemand: { base: 1 } }, [ON_DEMAND, SPOT]);
    cluster.invariant.mended?.();
    cluster.invariant.rested?.();
    expect(cluster.broken).toEqual([]);
    await cluster.world.client.delete(NODE_CLAIMS, { name: 'node-0' });
    cluster.invariant.rested?.();
    expect(cluster.broken).toEqual([expect.stringContaining('after two hours of rest has 0 of 1')]);
  });
});
