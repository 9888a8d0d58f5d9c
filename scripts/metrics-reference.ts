/** Every metric that `spindrift run` can show, as the code defines it, and the page that lists them. */

import { Autoscaler } from '../src/app/autoscaler.ts';
import { installDefinitions } from '../src/app/install-definitions.ts';
import { ApiMetrics } from '../src/cloud/aws/api/api-metrics.ts';
import { InstanceStatusSource } from '../src/cloud/aws/interruption/instance-status-source.ts';
import { QueueMetrics } from '../src/cloud/aws/interruption/metrics.ts';
import { Ownership } from '../src/cloud/ibm/launch/ownership.ts';
import { PreemptionReport } from '../src/cloud/ibm/preemption/preemption-report.ts';
import { loadSimulatedCloud } from '../src/cloud/simulated/module.ts';
import { EmbeddedCluster } from '../src/embedded/cluster.ts';
import type { KubeClient } from '../src/kube/client.ts';
import { EventRecorder } from '../src/kube/event-recorder.ts';
import { httpMetrics } from '../src/kube/http-metrics.ts';
import { LeaderElection } from '../src/kube/leader-election.ts';
import type { Clock } from '../src/platform/clock.ts';
import { type Logger, SILENT_LOGGER } from '../src/platform/logger.ts';
import { type MetricDescription, Metrics } from '../src/platform/metrics.ts';
import { type Random, seededRandom } from '../src/platform/random.ts';
import { VirtualClock } from '../src/platform/virtual-clock.ts';

interface World {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Starts the whole autoscaler on a cluster in memory, in virtual time, and asks its registry. Parts that run only with a real
 * cloud or over HTTP are made beside it. A test fails when a metric of the source is missing here.
 */
export async function allMetrics(): Promise<MetricDescription[]> {
  return (await shownMetrics()).descriptions;
}

/** The same as Prometheus scrapes them. */
export async function allMetricsText(): Promise<string> {
  return (await shownMetrics()).text;
}

async function shownMetrics(): Promise<{ readonly descriptions: MetricDescription[]; readonly text: string }> {
  const metrics = new Metrics();
  metrics.observeProcess();
  const clock = new VirtualClock();
  const random = seededRandom('metrics');
  const logger = SILENT_LOGGER;
  const cluster = new EmbeddedCluster({ clock, random });
  const { client } = cluster;
  const stop = new AbortController();
  const { signal } = stop;
  const running: Promise<unknown>[] = [cluster.run(signal)];
  const clouds = [await loadSimulatedCloud({})];
  await clock.run(installDefinitions(client, clouds, signal));
  const world: World = { client, clock, random, logger, metrics };
  const autoscaler = new Autoscaler({
    podDeletionCost: true,
    ...world,
    cluster: 'reference',
    batchIdleMs: 1000,
    batchMaxMs: 10_000,
    clouds,
  });
  running.push(autoscaler.watch(signal), autoscaler.act(signal));
  await clock.advance(10_000);
  otherParts(world);
  const shown = { descriptions: metrics.descriptions(), text: await metrics.text() };
  stop.abort(new Error('all is known'));
  await clock.run(Promise.allSettled(running), 'the end of the autoscaler');
  return shown;
}

function otherParts(world: World): void {
  const { client, clock, random, logger, metrics } = world;
  httpMetrics(metrics, 'reference');
  new LeaderElection({ ...world, identity: 'reference', lease: { namespace: 'default', name: 'reference' } });
  new ApiMetrics(metrics);
  new QueueMetrics({ clock, metrics, oldestSentAt: () => undefined });
  new InstanceStatusSource({ clock, logger, metrics, unwell: async () => [], isKnown: () => false });
  const recorder = new EventRecorder({ client, clock, random, component: 'reference' });
  const ownership = new Ownership({ cluster: 'reference', claims: () => [] });
  new PreemptionReport({ metrics, recorder, ownership, nodes: () => [] });
}

/** The page, one table for each part of the names before their meaning. */
export function metricsReference(metrics: readonly MetricDescription[]): string {
  const rows = metrics.map(({ name, type, labels, help }) => {
    const shown = labels.length > 12 ? `${labels.slice(0, 12).join(', ')}, …` : labels.join(', ');
    return `| \`${name}\` | ${type} | ${shown} | ${help.replaceAll('|', '\\|')} |`;
  });
  return `| name | type | labels | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}
