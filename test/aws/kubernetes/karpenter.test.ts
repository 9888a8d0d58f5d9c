import { afterAll, beforeAll, describe, expect } from 'vitest';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { AwsCluster } from './aws-cluster.ts';
import { untilRunning } from './fleet.ts';
import { KarpenterProcess } from './karpenter-process.ts';
import { deployment, nodeClass, nodePool } from './objects.ts';
import { story } from './story.ts';

/** Karpenter as the second judge of the ground: if it can run a fleet there, so can others who call EC2 as it does. */
describe('Karpenter 1.14.0 on the aws ground', () => {
  const cluster = new AwsCluster('judged');
  const karpenter = new KarpenterProcess(cluster);
  const tale = story();
  const { step } = tale;

  beforeAll(async () => {
    await cluster.start();
    const { ground, kubectl } = cluster;
    const reserved = {
      instanceType: 'm5.large',
      zone: 'us-east-1b',
      count: 1,
      match: 'targeted',
      tags: { for: 'nodes' },
    } as const;
    await ground.reserve(reserved);
    await kubectl.apply(
      nodeClass(cluster.name, { capacityReservationSelectorTerms: [{ tags: { for: 'nodes' } }] }),
      nodePool({ name: 'reserved', capacityTypes: ['reserved'] }),
      nodeClass(cluster.name, { amiSelectorTerms: [{ alias: 'bottlerocket@latest' }] }, 'bottlerocket'),
      nodePool({ name: 'spot', capacityTypes: ['spot'], nodeClass: 'bottlerocket' }),
      nodePool({ name: 'on-demand', capacityTypes: ['on-demand'] }),
    );
    await karpenter.start();
  });

  afterAll(async () => {
    await karpenter.stop();
    await cluster.stop(tale.passed);
  });

  for (const kind of ['reserved', 'spot', 'on-demand'] as const) {
    step(`launches ${kind} capacity that boots and runs pods`, async () => {
      await cluster.kubectl.apply(deployment(kind, kind, 2));
      await untilRunning(cluster, karpenter, kind, 2);
      const machines = (await cluster.ground.instances()).filter(({ capacityType }) => capacityType === kind);
      expect(machines).toHaveLength(1);
      const [machine] = machines;
      const node = await cluster.client.get(NODES, { name: machine!.privateDnsName });
      expect(node.metadata.labels).toMatchObject({ 'karpenter.sh/capacity-type': kind, pool: kind });
      expect(node.metadata.labels).toMatchObject({ 'karpenter.sh/registered': 'true' });
      // The smallest types have room for four pods; without the setting of the user data it would be 110.
      expect(Number(node.status?.capacity?.pods)).toBeGreaterThanOrEqual(4);
      expect(Number(node.status?.capacity?.pods)).toBeLessThan(110);
    });
  }

  step('was told the truth: nothing failed but dry runs, and every machine joined', async () => {
    const { calls, dryRuns, failures } = await cluster.ground.calls();
    expect(calls['ec2:CreateFleet']! - (dryRuns['ec2:CreateFleet'] ?? 0)).toBe(3);
    const unexplained = Object.entries(failures).filter(([call, count]) => count > (dryRuns[call] ?? 0));
    // It asks for what it is about to make.
    const expected = ['ec2:DescribeLaunchTemplates', 'iam:GetInstanceProfile', 'ssm:GetParameter'];
    expect(unexplained.map(([call]) => call).filter((call) => !expected.includes(call))).toEqual([]);
    expect([...cluster.room.failures]).toEqual([]);
  });
});
