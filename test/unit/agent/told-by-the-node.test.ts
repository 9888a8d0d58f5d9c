/** From what an agent hears to what the autoscaler does: the condition on the Node is a notice like any other. */
import { describe, expect, it } from 'vitest';
import { Agent } from '../../../src/agent/agent.ts';
import { ImdsSource } from '../../../src/agent/aws/imds-source.ts';
import { Ec2Metadata } from '../../../src/agent/testkit/ec2-metadata.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { ANNOTATION_INTERRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { SIMULATED_NODE_CLASSES } from '../../../src/apis/spindrift/simulated-node-class.ts';
import { Autoscaler } from '../../../src/app/autoscaler.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../../src/app/default-pool.ts';
import { installDefinitions } from '../../../src/app/install-definitions.ts';
import { loadSimulatedCloud } from '../../../src/cloud/simulated/module.ts';
import { EmbeddedCluster } from '../../../src/embedded/cluster.ts';
import { aDeployment, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import { EventRecorder } from '../../../src/kube/event-recorder.ts';
import { toTimestamp } from '../../../src/platform/clock.ts';
import { SILENT_LOGGER } from '../../../src/platform/logger.ts';
import { Metrics } from '../../../src/platform/metrics.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';

async function world() {
  const clock = new VirtualClock();
  const random = seededRandom('told');
  const cluster = new EmbeddedCluster({ clock, random });
  const { client } = cluster;
  const stop = new AbortController();
  const clouds = [await loadSimulatedCloud({ powerOff: (node) => cluster.kubelets.kill(node) })];
  const running: Promise<unknown>[] = [cluster.run(stop.signal)];
  await clock.run(installDefinitions(client, clouds, stop.signal));
  await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
  await client.create(NODE_POOLS, DEFAULT_NODE_POOL);
  const metrics = new Metrics();
  const logger = SILENT_LOGGER;
  const autoscaler = new Autoscaler({
    ...{ client, clock, random, logger, metrics, cluster: 'test' },
    ...{ batchIdleMs: 1000, batchMaxMs: 10_000, solveSteps: 200_000, clouds },
  });
  running.push(autoscaler.watch(stop.signal), autoscaler.act(stop.signal));
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '1' } } }];
  await client.create(
    DEPLOYMENTS,
    aDeployment('web', { replicas: 4, template: aTemplate('web', 'app:1', { containers }) }),
  );
  await clock.advance(180_000);
  const [claim] = (await client.list(NODE_CLAIMS)).items;
  const nodeName = claim?.status?.nodeName ?? '';
  const metadata = new Ec2Metadata(clock);
  const recorder = new EventRecorder({ client, clock, random, component: 'spindrift-agent' });
  const agent = new Agent({
    ...{
      client,
      clock,
      random,
      logger,
      recorder,
      nodeName,
      taint: false,
      drainAfterMs: 5000,
      shutdownNoticeMs: 30_000,
    },
    sources: [new ImdsSource({ clock, logger, ask: metadata.ask })],
  });
  running.push(agent.run(stop.signal));
  await clock.advance(10_000);
  const end = async (): Promise<void> => {
    stop.abort(new Error('the end'));
    await clock.run(Promise.all(running.map((each) => each.catch(() => {}))));
  };
  return { clock, client, metrics, metadata, claim, nodeName, end };
}

describe('a warning that an agent hears', () => {
  it('is on the claim within two seconds of its Node, and pods move to a replacement before the deadline', async () => {
    const { clock, client, metadata, metrics, claim, nodeName, end } = await world();
    const time = toTimestamp((clock.now() + 120_000) as never);
    metadata.values.set('spot/instance-action', JSON.stringify({ action: 'terminate', time }));
    await clock.advance(7000);
    const name = claim?.metadata.name ?? '';
    const told = (await client.list(NODE_CLAIMS)).items.find(({ metadata: { name: own } }) => own === name);
    expect(told?.metadata.annotations?.[ANNOTATION_INTERRUPTION] ?? 'gone').toBe('spot-interruption');
    await clock.advance(110_000);
    const pods = (await client.list(PODS)).items;
    expect(pods.filter(({ spec }) => spec.nodeName === nodeName)).toEqual([]);
    expect(pods.filter(({ status }) => status?.phase === 'Running')).toHaveLength(4);
    const outcome = (word: string) => metrics.read('spindrift_interruption_notices_total', { outcome: word });
    expect([await outcome('acted'), await outcome('late')]).toEqual([1, 0]);
    await end();
  });
});
