import { afterAll, beforeAll, describe, expect } from 'vitest';
import { CLOUD_MODULES } from '../../../src/app/cloud-modules.ts';
import { untilSo } from '../../kubernetes/harness/until-so.ts';
import type { Autoscaler } from './autoscaler.ts';
import { AwsCluster } from './aws-cluster.ts';
import { type Fleet, fleetOf, lasting, untilFleet, untilRunning } from './fleet.ts';
import { KarpenterProcess } from './karpenter-process.ts';
import { deployment, nodeClass, nodePool } from './objects.ts';
import { SpindriftProcess } from './spindrift-process.ts';
import { story } from './story.ts';

/** Long enough for every loop of either to have looked at everything more than once. */
const WATCHED_MS = 60_000;

/**
 * A user of Karpenter on EKS scales it to zero, starts Spindrift with the same pools, classes, role and queue, and keeps
 * every node; and can go back.
 */
describe.runIf(CLOUD_MODULES.some(({ name }) => name === 'aws'))('a fleet that changes hands', () => {
  const cluster = new AwsCluster('moving');
  const karpenter = new KarpenterProcess(cluster);
  const spindrift = new SpindriftProcess(cluster);
  const POOLS = ['reserved', 'spot', 'on-demand'] as const;
  const tale = story();
  const { step } = tale;

  beforeAll(async () => {
    await cluster.start();
    const tags = { for: 'nodes' };
    await cluster.ground.reserve({ instanceType: 'm5.large', zone: 'us-east-1b', count: 1, match: 'targeted', tags });
    await cluster.kubectl.apply(
      nodeClass(cluster.name, { capacityReservationSelectorTerms: [{ tags }], tags: { team: 'blue' } }),
      nodePool({ name: 'reserved', capacityTypes: ['reserved'] }),
      nodePool({ name: 'spot', capacityTypes: ['spot'] }),
      nodePool({ name: 'on-demand', capacityTypes: ['on-demand'] }),
    );
  });

  afterAll(async () => {
    await karpenter.stop();
    await spindrift.stop();
    await cluster.stop(tale.passed);
  });

  /** Hands the fleet over and watches that nothing of it changes: no launch, no drift, no eviction. */
  const handOver = async (from: Autoscaler, to: Autoscaler): Promise<void> => {
    // What is on its way when the one stops would end under the other, and look as if that had done it.
    await untilFleet(cluster, from, unsettled);
    await from.stop();
    const before = lasting(await fleetOf(cluster));
    await cluster.ground.calls({ reset: true });
    await to.start();
    // A controller that sees nothing changes nothing: it must have looked at the account first.
    await untilSo({
      clock: cluster.clock,
      withinMs: 120_000,
      missing: async () => {
        if (to.failure !== undefined) throw to.failure;
        const { calls } = await cluster.ground.calls();
        return ['ec2:DescribeInstanceTypes', 'ec2:DescribeSubnets'].find((call) => (calls[call] ?? 0) === 0);
      },
    });
    const until = cluster.clock.elapsed() + WATCHED_MS;
    while (cluster.clock.elapsed() < until) {
      if (to.failure !== undefined) throw to.failure;
      expect(lasting(await fleetOf(cluster))).toEqual(before);
      await cluster.clock.sleep(1000);
    }
    const { calls, dryRuns } = await cluster.ground.calls();
    expect((calls['ec2:CreateFleet'] ?? 0) - (dryRuns['ec2:CreateFleet'] ?? 0)).toBe(0);
    expect(calls['ec2:TerminateInstances'] ?? 0).toBe(0);
  };

  step('is launched by Karpenter', async () => {
    await karpenter.start();
    for (const pool of POOLS) {
      await cluster.kubectl.apply(deployment(pool, pool, 2));
      await untilRunning(cluster, karpenter, pool, 2);
    }
    const kinds = new Set((await cluster.ground.instances()).map(({ capacityType }) => capacityType));
    expect([...kinds].sort()).toEqual(['on-demand', 'reserved', 'spot']);
  });

  step('is taken over by Spindrift without a launch, a drift or an eviction', () => handOver(karpenter, spindrift));

  step('grows under Spindrift', async () => {
    await cluster.kubectl.run(['scale', 'deployment/on-demand', '--replicas=8']);
    await untilRunning(cluster, spindrift, 'on-demand', 8);
  });

  step('loses an interrupted node under Spindrift, and no pod for long', async () => {
    const [spot] = (await cluster.ground.instances()).filter(({ capacityType }) => capacityType === 'spot');
    await cluster.ground.interrupt({ id: spot!.id });
    await untilFleet(cluster, spindrift, ({ machines }) =>
      machines.some(({ id }) => id === spot!.id) ? `${spot!.id} is still there` : undefined,
    );
    await untilRunning(cluster, spindrift, 'spot', 2);
  });

  step('shrinks under Spindrift', async () => {
    const before = (await cluster.ground.instances()).length;
    const patch = { spec: { disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' } } };
    await cluster.kubectl.run(['patch', 'nodepool', 'on-demand', '--type=merge', `--patch=${JSON.stringify(patch)}`]);
    await cluster.kubectl.run(['scale', 'deployment/on-demand', '--replicas=1']);
    await untilFleet(cluster, spindrift, ({ machines }) =>
      machines.length < before ? undefined : `there are still ${machines.length} machines`,
    );
    await untilRunning(cluster, spindrift, 'on-demand', 1);
    const back = { spec: { disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' } } };
    await cluster.kubectl.run(['patch', 'nodepool', 'on-demand', '--type=merge', `--patch=${JSON.stringify(back)}`]);
  });

  step('goes back to Karpenter without a launch, a drift or an eviction', () => handOver(spindrift, karpenter));

  step('grows under Karpenter again', async () => {
    await cluster.kubectl.run(['scale', 'deployment/spot', '--replicas=6']);
    await untilRunning(cluster, karpenter, 'spot', 6);
  });
});

/** What of a fleet still moves: machines, claims and nodes that do not belong to each other yet, or are leaving. */
function unsettled({ machines, claims, nodes, pods }: Fleet): string | undefined {
  const leaving = [...claims, ...nodes, ...pods].filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const counts = `${machines.length} machines, ${claims.length} claims, ${nodes.length} nodes, ${leaving.length} leaving`;
  const isSettled = machines.length === claims.length && claims.length === nodes.length && leaving.length === 0;
  return isSettled ? undefined : counts;
}
