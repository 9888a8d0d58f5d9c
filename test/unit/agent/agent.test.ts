import { describe, expect, it } from 'vitest';
import { Agent, type AgentOptions } from '../../../src/agent/agent.ts';
import { ImdsSource } from '../../../src/agent/aws/imds-source.ts';
import { Ec2Metadata } from '../../../src/agent/testkit/ec2-metadata.ts';
import { TAINT_DISRUPTED } from '../../../src/apis/karpenter/labels.ts';
import { EVENTS } from '../../../src/apis/kubernetes/event.ts';
import { NODES, type Node } from '../../../src/apis/kubernetes/node.ts';
import { PODS, type Pod } from '../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { statedInterruption, TAINT_INTERRUPTION } from '../../../src/apis/spindrift/interruption-condition.ts';
import { EmbeddedCluster } from '../../../src/embedded/cluster.ts';
import { flakyClient } from '../../../src/embedded/testkit/flaky-client.ts';
import { aDeployment, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { EventRecorder } from '../../../src/kube/event-recorder.ts';
import { toTimestamp } from '../../../src/platform/clock.ts';
import { SILENT_LOGGER } from '../../../src/platform/logger.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';

interface WorldOptions extends Partial<AgentOptions> {
  readonly replicas?: number;
  readonly maxUnavailable?: number;
  readonly wrap?: (client: KubeClient) => KubeClient;
}

async function world({ replicas = 0, maxUnavailable = 10, wrap, ...options }: WorldOptions = {}) {
  const clock = new VirtualClock();
  const random = seededRandom('agent');
  const delays = { startMs: 500, readyMs: 500 };
  const cluster = new EmbeddedCluster({ clock, random, delays });
  const stop = new AbortController();
  const running = [cluster.run(stop.signal)];
  await clock.run(cluster.synced(stop.signal));
  await cluster.kubelets.join({ name: 'own' });
  await clock.advance(1000);
  if (replicas > 0) {
    const template = aTemplate('web', 'app:1', { terminationGracePeriodSeconds: 2 });
    await cluster.client.create(DEPLOYMENTS, aDeployment('web', { replicas, template }));
    await cluster.client.create(POD_DISRUPTION_BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { maxUnavailable, selector: { matchLabels: { app: 'web' } } },
    });
    await clock.advance(5000);
  }
  await cluster.kubelets.join({ name: 'other' });
  const metadata = new Ec2Metadata(clock);
  const client = wrap?.(cluster.client) ?? cluster.client;
  const recorder = new EventRecorder({ client: cluster.client, clock, random, component: 'spindrift-agent' });
  const logger = SILENT_LOGGER;
  const agent = new Agent({
    ...{ client, clock, random, logger, recorder, nodeName: 'own', taint: false, shutdownNoticeMs: 30_000 },
    sources: [new ImdsSource({ clock, logger, ask: metadata.ask })],
    ...options,
  });
  running.push(agent.run(stop.signal));
  await clock.advance(1000);
  const interrupt = (inMs: number): void => {
    const time = toTimestamp((clock.now() + inMs) as never);
    metadata.values.set('spot/instance-action', JSON.stringify({ action: 'terminate', time }));
  };
  return {
    ...{ clock, cluster, metadata, interrupt },
    node: (): Promise<Node> => cluster.client.get(NODES, { name: 'own' }),
    podsOn: async (name: string): Promise<Pod[]> =>
      (await cluster.client.list(PODS)).items.filter(({ spec }) => spec.nodeName === name),
    events: async (): Promise<(string | undefined)[]> =>
      (await cluster.client.list(EVENTS)).items.map(({ reason }) => reason),
    end: async (): Promise<void> => {
      stop.abort();
      await Promise.all(running);
    },
  };
}

const stated = ({ status }: Node) => (status?.conditions ?? []).flatMap((each) => statedInterruption(each) ?? []);

describe('an agent', () => {
  it('says on its Node what it hears, once, with the deadline, and tells people', async () => {
    const { clock, interrupt, node, events, end } = await world();
    expect(stated(await node())).toEqual([]);
    interrupt(120_000);
    await clock.advance(5000);
    expect(stated(await node())).toMatchObject([{ kind: 'spot-interruption', source: 'imds' }]);
    const { resourceVersion } = (await node()).metadata;
    await clock.advance(4000);
    expect((await node()).metadata.resourceVersion).toBe(resourceVersion);
    expect(await events()).toContain('InterruptionHeard');
    expect((await node()).spec?.taints ?? []).toEqual([]);
    await end();
  });

  it('writes nothing while nothing is to be said', async () => {
    const { clock, cluster, end } = await world();
    const writes: string[] = [];
    cluster.server.world.store.observe(({ collection }) => writes.push(collection));
    await clock.advance(60_000);
    expect(writes.filter((collection) => !/leases|nodes/.test(collection))).toEqual([]);
    await end();
  });

  it('adds a taint where it is asked to', async () => {
    const { clock, interrupt, node, end } = await world({ taint: true });
    interrupt(120_000);
    await clock.advance(6000);
    expect((await node()).spec?.taints).toContainEqual(TAINT_INTERRUPTION);
    await end();
  });

  it('takes maintenance back that was cancelled, with its taint', async () => {
    const { clock, metadata, node, end } = await world({ taint: true });
    const event = { Code: 'instance-reboot', State: 'active', NotBefore: '2 Jan 2030 03:04:05 GMT' };
    metadata.values.set('events/maintenance/scheduled', JSON.stringify([event]));
    await clock.advance(65_000);
    expect(stated(await node())).toMatchObject([{ kind: 'scheduled-maintenance' }]);
    metadata.values.set('events/maintenance/scheduled', '[]');
    await clock.advance(65_000);
    expect(stated(await node())).toEqual([]);
    expect((await node()).spec?.taints ?? []).toEqual([]);
    await end();
  });

  it('drains 30 pods under a budget before a deadline of 30 s when no controller answers', async () => {
    const { clock, interrupt, podsOn, events, node, end } = await world({ replicas: 30, drainAfterMs: 5000 });
    expect(await podsOn('own')).toHaveLength(30);
    interrupt(30_000);
    await clock.advance(30_000);
    expect(await podsOn('own')).toEqual([]);
    expect((await podsOn('other')).length).toBe(30);
    expect(await events()).toEqual(expect.arrayContaining(['AgentDraining', 'AgentDrained', 'Evicted']));
    expect((await node()).spec?.unschedulable).toBe(true);
    await end();
  });

  it('keeps budgets also where pods are lost with the machine, and says whose', async () => {
    const options = { replicas: 30, maxUnavailable: 1, drainAfterMs: 5000 };
    const { clock, cluster, interrupt, podsOn, events, end } = await world(options);
    let fewest = 30;
    cluster.server.world.store.observe(({ collection, object }) => {
      if (!collection.includes('poddisruptionbudgets')) return;
      const { currentHealthy = 30 } = (object as { status?: { currentHealthy?: number } }).status ?? {};
      fewest = Math.min(fewest, currentHealthy);
    });
    interrupt(30_000);
    await clock.advance(30_000);
    const left = (await podsOn('own')).length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(30);
    expect(fewest).toBeGreaterThanOrEqual(29);
    expect(await events()).toContain('CannotLeaveInTime');
    await end();
  });

  it('leaves the drain to a controller that answers in time, or later', async () => {
    const { clock, cluster, interrupt, podsOn, end } = await world({
      replicas: 30,
      drainAfterMs: 5000,
      maxUnavailable: 1,
    });
    interrupt(120_000);
    await clock.advance(8000);
    await cluster.client.patch(
      NODES,
      { name: 'own' },
      { type: 'merge', body: { spec: { taints: [TAINT_DISRUPTED] } } },
    );
    await clock.advance(30_000);
    expect(await podsOn('own')).toHaveLength(30);
    await end();
  });

  it('does not drain for a recommendation, nor for maintenance of tomorrow', async () => {
    const { clock, metadata, podsOn, end } = await world({ replicas: 3, drainAfterMs: 1000 });
    const event = { Code: 'instance-reboot', State: 'active', NotBefore: '2 Jan 2030 03:04:05 GMT' };
    metadata.values.set('events/maintenance/scheduled', JSON.stringify([event]));
    metadata.values.set('events/recommendations/rebalance', '{"noticeTime":"2030-01-01T00:00:03Z"}');
    await clock.advance(120_000);
    expect(await podsOn('own')).toHaveLength(3);
    await end();
  });

  it('hears the kubelet say that its node is shutting down', async () => {
    const { clock, cluster, node, end } = await world();
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'node is shutting down' },
    ];
    const options = { subresource: 'status' } as const;
    await cluster.client.patch(
      NODES,
      { name: 'own' },
      { type: 'strategic', body: { status: { conditions } } },
      options,
    );
    await clock.advance(2000);
    expect(stated(await node())).toMatchObject([{ kind: 'stopping', source: 'kubelet' }]);
    await end();
  });

  it('gets through an API server that fails half of the time', async () => {
    const wrap = (client: KubeClient): KubeClient => flakyClient(client, seededRandom('flaky'), 0.5);
    const { clock, interrupt, podsOn, node, end } = await world({ replicas: 10, drainAfterMs: 2000, wrap });
    interrupt(60_000);
    await clock.advance(55_000);
    expect(stated(await node())).toMatchObject([{ kind: 'spot-interruption' }]);
    expect(await podsOn('own')).toEqual([]);
    await end();
  });
});
