/** One spot interruption from EventBridge to the terminated instance, though the controller is killed half way. */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { ANNOTATION_INTERRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { main } from '../../../src/cli/main.ts';
import { Informer } from '../../../src/kube/informer.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { DisruptionWatch } from '../../kubernetes/harness/disruption-watch.ts';
import { untilSo } from '../../kubernetes/harness/until-so.ts';
import type { Machine } from '../aws-ground-types.ts';
import { AwsCluster } from './aws-cluster.ts';
import { fleetOf, untilFleet, untilRunning } from './fleet.ts';
import { deployment, nodeClass, nodePool } from './objects.ts';
import { SpindriftProcess } from './spindrift-process.ts';
import { story } from './story.ts';

const CLUSTER = 'interrupted';
const QUEUE = `spindrift-${CLUSTER}`;
const PODS = 3;
const CLAIM_TAG = 'karpenter.sh/nodeclaim';

describe('a spot interruption on AWS, with the controller killed in the middle', () => {
  const cluster = new AwsCluster(CLUSTER);
  const spindrift = new SpindriftProcess(cluster, { arguments: ['--interruption-queue', QUEUE] });
  const tale = story();
  const { step } = tale;
  const stop = new AbortController();
  let watch: DisruptionWatch;
  let watching: Promise<unknown> = Promise.resolve();
  let taken: Machine;
  /** Claims that ever were, by name. */
  const claims = new Set<string>();
  /** Resolves when the notice is on the claim of this machine. */
  let noticed: Promise<string>;

  const reach = (): { endpoint: string; region: string } => ({
    endpoint: cluster.ground.endpoint,
    region: cluster.ground.region,
  });

  /** How many messages the queue has, also those that somebody has taken and not deleted. */
  const messages = async (): Promise<number> => {
    const client = new SQSClient(reach());
    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: QUEUE }));
    const { Attributes = {} } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    const { ApproximateNumberOfMessages: waiting, ApproximateNumberOfMessagesNotVisible: held } = Attributes;
    return Number(waiting) + Number(held);
  };

  beforeAll(async () => {
    await cluster.start();
    Object.assign(process.env, cluster.ground.environment);
    const silent = { out: () => {}, err: () => {} };
    expect(await main(['aws', 'setup-queue', '--cluster', CLUSTER], silent)).toBe(0);
    await cluster.kubectl.apply(nodeClass(CLUSTER), nodePool({ name: 'spot', capacityTypes: ['spot'] }));
    const { client, clock } = cluster;
    watch = new DisruptionWatch({ client, clock, apps: [], wanted: 0 });
    const seen = new Informer({ client, clock, random: seededRandom('claims'), kind: NODE_CLAIMS });
    noticed = new Promise((resolve) => {
      seen.addHandler({
        added: ({ metadata }) => void claims.add(metadata.name ?? ''),
        updated: ({ metadata }) => {
          if (metadata.annotations?.[ANNOTATION_INTERRUPTION] !== undefined) resolve(metadata.name ?? '');
        },
      });
    });
    watching = Promise.all([watch.run(stop.signal), seen.run(stop.signal)]);
    await spindrift.start();
  });

  afterAll(async () => {
    stop.abort();
    await watching.catch(() => {});
    await spindrift.stop();
    await cluster.stop(tale.passed);
  });

  step('begins with pods on a spot node', async () => {
    // With a grace period an eviction is seen as such, before the pod is gone.
    const podSpec = { terminationGracePeriodSeconds: 2 };
    await cluster.kubectl.apply(deployment('web', 'spot', PODS, undefined, podSpec));
    await untilRunning(cluster, spindrift, 'web', PODS);
    const { machines, pods } = await untilFleet(cluster, spindrift, (fleet) =>
      fleet.claims.every(({ status }) => status?.nodeName !== undefined) ? undefined : 'a claim names no node',
    );
    expect(machines.map(({ capacityType }) => capacityType)).not.toContain('on-demand');
    const used = machines.find(({ privateDnsName }) => pods.some(({ spec }) => spec.nodeName === privateDnsName));
    taken = used!;
  });

  step('is on the claim when the controller is killed, and no pod has been evicted', async () => {
    await cluster.ground.calls({ reset: true });
    const before = await fleetOf(cluster);
    watch.expect([taken.privateDnsName], cluster.clock.now() + 120_000);
    const Detail = JSON.stringify({ 'instance-id': taken.id, 'instance-action': 'terminate' });
    const entry = { Source: 'aws.ec2', DetailType: 'EC2 Spot Instance Interruption Warning', Detail };
    const { FailedEntryCount } = await new EventBridgeClient(reach()).send(new PutEventsCommand({ Entries: [entry] }));
    expect(FailedEntryCount).toBe(0);
    expect(await noticed).toBe(taken.tags[CLAIM_TAG]);
    await spindrift.kill();
    const after = await fleetOf(cluster);
    expect(after.machines.map(({ id }) => id)).toContain(taken.id);
    expect(after.pods.map(({ metadata }) => metadata.uid)).toEqual(before.pods.map(({ metadata }) => metadata.uid));
    expect(watch.firstEviction).toBe(Number.POSITIVE_INFINITY);
  });

  step('is seen through by the next controller: the replacement first, then the drain, then the instance', async () => {
    await spindrift.start();
    await untilFleet(cluster, spindrift, ({ machines, nodes }) => {
      if (machines.some(({ id }) => id === taken.id)) return `${taken.id} is still there`;
      const node = nodes.find(({ metadata }) => metadata.name === taken.privateDnsName);
      return node && `node ${taken.privateDnsName} is still there`;
    });
    await untilRunning(cluster, spindrift, 'web', PODS);
    const { pods } = await fleetOf(cluster);
    expect(pods.map(({ spec }) => spec.nodeName)).not.toContain(taken.privateDnsName);
    expect(watch.evictedFrom([taken.privateDnsName])).toBeGreaterThan(0);
    expect(watch.firstClaim).toBeLessThan(watch.firstEviction);
    expect(watch.late).toEqual([]);
  });

  step('leaves an empty queue, one termination, and one instance for each claim', async () => {
    await untilSo({
      clock: cluster.clock,
      withinMs: 90_000,
      missing: async () => {
        const left = await messages();
        return left === 0 ? undefined : `${left} messages are in the queue`;
      },
    });
    const { calls, dryRuns } = await cluster.ground.calls();
    expect((calls['ec2:TerminateInstances'] ?? 0) - (dryRuns['ec2:TerminateInstances'] ?? 0)).toBe(1);
    const launched = (await cluster.ground.launches()).flatMap(({ instances }) => instances.map(({ id }) => id));
    const owners = (await cluster.ground.instances({ all: true })).map(({ tags }) => tags[CLAIM_TAG]);
    expect(owners.sort()).toEqual([...claims].sort());
    expect(launched).toHaveLength(claims.size);
    const fleet = await fleetOf(cluster);
    expect(fleet.claims.map(({ status }) => status?.nodeName).sort()).toEqual(
      fleet.nodes.map(({ metadata }) => metadata.name).sort(),
    );
  });
});
