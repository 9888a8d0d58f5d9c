/**
 * Spot interruptions from EventBridge, and from an instance's own metadata, to the terminated instance: one though the
 * controller is killed half way, one that the queue and the agent both tell of.
 */

import { join } from 'node:path';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { EVENTS } from '../../../src/apis/kubernetes/event.ts';
import { ANNOTATION_INTERRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { main } from '../../../src/cli/main.ts';
import { Informer } from '../../../src/kube/informer.ts';
import { type EpochMs, toTimestamp } from '../../../src/platform/clock.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { DisruptionWatch } from '../../kubernetes/harness/disruption-watch.ts';
import { ManagedProcess } from '../../kubernetes/harness/managed-process.ts';
import { untilSo } from '../../kubernetes/harness/until-so.ts';
import type { Machine } from '../aws-ground-types.ts';
import { MetadataMock } from '../judges/metadata-mock.ts';
import { AwsCluster } from './aws-cluster.ts';
import { fleetOf, untilFleet, untilRunning } from './fleet.ts';
import { deployment, nodeClass, nodePool } from './objects.ts';
import { SpindriftProcess } from './spindrift-process.ts';
import { story } from './story.ts';

const CLUSTER = 'interrupted';
const QUEUE = `spindrift-${CLUSTER}`;
const PODS = 3;
const CLAIM_TAG = 'karpenter.sh/nodeclaim';
const SPINDRIFT = join(import.meta.dirname, '..', '..', '..', 'bin', 'spindrift.js');
/** How often an agent asks, as EC2 recommends, and what it and the controller may take after that. */
const POLLING_MS = 5000;
const TELLING_MS = 2000;

describe('a spot interruption on AWS', () => {
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
  /** Who waits for the notice on a claim, by its name. */
  const waiting = new Map<string, (at: number) => void>();
  const noticeOn = ({ tags }: Machine): Promise<number> =>
    new Promise((resolve) => void waiting.set(tags[CLAIM_TAG] ?? '', resolve));
  let mock: MetadataMock | undefined;
  let agent: ManagedProcess | undefined;

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

  const queueEmpty = (): Promise<void> =>
    untilSo({
      clock: cluster.clock,
      withinMs: 90_000,
      missing: async () => {
        const left = await messages();
        return left === 0 ? undefined : `${left} messages are in the queue`;
      },
    });

  /** Puts on EventBridge what EC2 says two minutes before it takes a machine back. */
  const warn = async ({ id }: Machine): Promise<void> => {
    const Detail = JSON.stringify({ 'instance-id': id, 'instance-action': 'terminate' });
    const entry = { Source: 'aws.ec2', DetailType: 'EC2 Spot Instance Interruption Warning', Detail };
    const { FailedEntryCount } = await new EventBridgeClient(reach()).send(new PutEventsCommand({ Entries: [entry] }));
    expect(FailedEntryCount).toBe(0);
  };

  /** A machine with pods, once everything has joined. */
  const machineInUse = async (): Promise<Machine> => {
    const { machines, pods } = await untilFleet(cluster, spindrift, (fleet) =>
      fleet.claims.every(({ status }) => status?.nodeName !== undefined) ? undefined : 'a claim names no node',
    );
    expect(machines.map(({ capacityType }) => capacityType)).not.toContain('on-demand');
    return machines.find(({ privateDnsName }) => pods.some(({ spec }) => spec.nodeName === privateDnsName))!;
  };

  /** The machine and its node go, the pods run elsewhere, and a claim in their place came before the first eviction. */
  const seenThrough = async ({ id, privateDnsName }: Machine): Promise<void> => {
    await untilFleet(cluster, spindrift, ({ machines, nodes }) => {
      if (machines.some((machine) => machine.id === id)) return `${id} is still there`;
      const node = nodes.find(({ metadata }) => metadata.name === privateDnsName);
      return node && `node ${privateDnsName} is still there`;
    });
    await untilRunning(cluster, spindrift, 'web', PODS);
    const { pods } = await fleetOf(cluster);
    expect(pods.map(({ spec }) => spec.nodeName)).not.toContain(privateDnsName);
    expect(watch.evictedFrom([privateDnsName])).toBeGreaterThan(0);
    expect(watch.firstClaim).toBeLessThan(watch.firstEviction);
    expect(watch.late).toEqual([]);
  };

  /** Since the last reset of the account's calls. */
  const terminations = async (): Promise<number> => {
    const { calls, dryRuns } = await cluster.ground.calls();
    return (calls['ec2:TerminateInstances'] ?? 0) - (dryRuns['ec2:TerminateInstances'] ?? 0);
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
    seen.addHandler({
      added: ({ metadata }) => void claims.add(metadata.name ?? ''),
      updated: ({ metadata }) => {
        if (metadata.annotations?.[ANNOTATION_INTERRUPTION] !== undefined)
          waiting.get(metadata.name ?? '')?.(clock.now());
      },
    });
    watching = Promise.all([watch.run(stop.signal), seen.run(stop.signal)]);
    await spindrift.start();
  });

  afterAll(async () => {
    stop.abort();
    await watching.catch(() => {});
    await agent?.kill();
    await mock?.stop();
    await spindrift.stop();
    await cluster.stop(tale.passed);
  });

  step('begins with pods on a spot node', async () => {
    // With a grace period an eviction is seen as such, before the pod is gone.
    const podSpec = { terminationGracePeriodSeconds: 2 };
    await cluster.kubectl.apply(deployment('web', 'spot', PODS, undefined, podSpec));
    await untilRunning(cluster, spindrift, 'web', PODS);
    taken = await machineInUse();
  });

  step('is on the claim when the controller is killed, and no pod has been evicted', async () => {
    await cluster.ground.calls({ reset: true });
    const before = await fleetOf(cluster);
    watch.expect([taken.privateDnsName], cluster.clock.now() + 120_000);
    const noticed = noticeOn(taken);
    await warn(taken);
    await noticed;
    await spindrift.kill();
    const after = await fleetOf(cluster);
    expect(after.machines.map(({ id }) => id)).toContain(taken.id);
    expect(after.pods.map(({ metadata }) => metadata.uid)).toEqual(before.pods.map(({ metadata }) => metadata.uid));
    expect(watch.firstEviction).toBe(Number.POSITIVE_INFINITY);
  });

  step('is seen through by the next controller: the replacement first, then the drain, then the instance', async () => {
    await spindrift.start();
    await seenThrough(taken);
  });

  step('leaves an empty queue, one termination, and one instance for each claim', async () => {
    await queueEmpty();
    expect(await terminations()).toBe(1);
    const launched = (await cluster.ground.launches()).flatMap(({ instances }) => instances.map(({ id }) => id));
    const owners = (await cluster.ground.instances({ all: true })).map(({ tags }) => tags[CLAIM_TAG]);
    expect(owners.sort()).toEqual([...claims].sort());
    expect(launched).toHaveLength(claims.size);
    const fleet = await fleetOf(cluster);
    expect(fleet.claims.map(({ status }) => status?.nodeName).sort()).toEqual(
      fleet.nodes.map(({ metadata }) => metadata.name).sort(),
    );
  });

  step(
    'is heard from the instance within the polling interval, and acted on once though the queue tells of it too',
    async () => {
      taken = await machineInUse();
      const name = taken.tags[CLAIM_TAG] ?? '';
      const before = new Set(claims);
      await cluster.ground.calls({ reset: true });
      // The agent has asked more than once by then, and the mock counts in whole seconds.
      const flip = (Math.ceil(cluster.clock.now() / 1000) * 1000 + 12_000) as EpochMs;
      mock = await MetadataMock.start([
        'spot',
        '--mock-trigger-time',
        toTimestamp(flip),
        '--rebalance-delay-sec',
        '900',
      ]);
      agent = ManagedProcess.start({
        name: 'agent',
        command: process.execPath,
        arguments: [
          ...[SPINDRIFT, 'agent', '--cloud', 'aws', '--node-name', taken.privateDnsName, '--metadata-url', mock.url],
          ...['--kubeconfig', cluster.facts.kubeconfig, '--bus-socket', '/nowhere'],
        ],
        logFile: cluster.logFile('agent'),
        clock: cluster.clock,
        guard: cluster.run.guard,
        onFailure: () => undefined,
      });
      watch.expect([taken.privateDnsName], flip + 120_000);
      const heardAt = await noticeOn(taken);
      expect(heardAt).toBeGreaterThanOrEqual(flip);
      expect(heardAt - flip).toBeLessThan(POLLING_MS + TELLING_MS);
      await warn(taken);
      await seenThrough(taken);
      await queueEmpty();
      expect(agent.failure).toBeUndefined();
      expect(await terminations()).toBe(1);
      expect([...claims].filter((claim) => !before.has(claim))).toHaveLength(1);
      const told = (await cluster.client.list(EVENTS)).items.filter(({ reason }) => reason === 'SpotInterrupted');
      const ours = told.filter(({ involvedObject }) =>
        [name, taken.privateDnsName].includes(involvedObject.name ?? ''),
      );
      expect(ours.map(({ involvedObject, count }) => `${involvedObject.kind} ${count}`).sort()).toEqual([
        'Node 1',
        'NodeClaim 1',
      ]);
    },
  );
});
