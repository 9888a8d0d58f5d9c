/**
 * A running Prometheus reads `spindrift run` through a short life: load, an interruption, a pod that no pool can serve. Every
 * rule of the chart evaluates, every panel of the dashboards has an answer, and an alert fires when its cause is there.
 * Skipped where there is no Prometheus: `npm run peers:prometheus`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { ANNOTATION_INTERRUPT } from '../../src/apis/spindrift/annotations.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import { installDefinitions } from '../../src/app/install-definitions.ts';
import { loadClouds } from '../../src/app/load-clouds.ts';
import { type RunningCluster, startEmbeddedCluster } from '../../src/embedded/embedded-cluster-server.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { ALERTS_FILE, readAlerts, readDashboardQueries } from '../chart/alert-rules.ts';
import { rendered } from '../chart/rendered-chart.ts';
import { RunningPrometheus } from '../chart/running-prometheus.ts';
import { freePorts } from '../kubernetes/harness/free-ports.ts';
import { Guard } from '../kubernetes/harness/guard.ts';
import { ManagedProcess } from '../kubernetes/harness/managed-process.ts';
import { notAllRun, untilSo } from '../kubernetes/harness/until-so.ts';
import { findHelm } from '../peers/helm.ts';
import { findInPrometheus } from '../peers/prometheus.ts';

const SPINDRIFT = join(import.meta.dirname, '..', '..', 'bin', 'spindrift.js');
const LIFE_S = 180;

/** Panels that this life leaves empty, and why. */
const EMPTY: Readonly<Record<string, string>> = {
  'Oldest notice in the queue': 'only AWS has a queue',
  'Replicas of services with ready-replicas': 'no service asks for it',
  'Failed reconciles': 'none fails',
  'Failed calls to clouds': 'none fails',
  'Failed launches': 'none fails',
  'Launches that helped no pod': 'each helps',
};

const program = findInPrometheus('prometheus');
const clock = new RealClock();

interface Group {
  readonly name: string;
  readonly rules: readonly { readonly alert: string; readonly for?: string }[];
}

/** The groups of the chart; what an alert has to last for is cut to two seconds. */
function ruleGroups(): readonly Group[] {
  const read = (): readonly Group[] => {
    if (findHelm() === undefined) return (parse(readFileSync(ALERTS_FILE, 'utf8')) as { groups: Group[] }).groups;
    const objects = rendered('clouds={simulated}', 'prometheusRule.enabled=true');
    const rule = objects.find(({ kind }) => kind === 'PrometheusRule') as unknown as { spec: { groups: Group[] } };
    return rule.spec.groups;
  };
  return read().map((group) => ({
    ...group,
    rules: group.rules.map((rule) => (rule.for === undefined ? rule : { ...rule, for: '2s' })),
  }));
}

describe.skipIf(program === undefined)('a running Prometheus', { timeout: 150_000 }, () => {
  let folder: string;
  let running: RunningCluster;
  let guard: Guard;
  let spindrift: ManagedProcess;
  let prometheus: RunningPrometheus;

  const until = (missing: () => Promise<string | undefined>): Promise<void> =>
    untilSo({ clock, withinMs: 45_000, missing });

  const scale = (replicas: number): Promise<unknown> =>
    running.cluster.client.patch(
      DEPLOYMENTS,
      { namespace: 'default', name: 'web' },
      { type: 'merge', body: { spec: { replicas } } },
    );

  const webRuns = (replicas: number): Promise<void> =>
    until(async () => {
      const { items } = await running.cluster.client.list(PODS, { namespace: 'default' });
      return notAllRun(items, replicas);
    });

  const alerts = async (...states: string[]): Promise<string[]> =>
    (await prometheus.rules()).filter(({ state }) => states.includes(state)).map(({ name }) => name);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'spindrift-watched-'));
    const kubeconfigPath = join(folder, 'kubeconfig');
    running = await startEmbeddedCluster({ clock, random: seededRandom('watched'), port: 0, nodes: 0, kubeconfigPath });
    const { client } = running.cluster;
    await installDefinitions(client, await loadClouds(['simulated'], {}), new AbortController().signal);
    await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
    await client.create(NODE_POOLS, DEFAULT_NODE_POOL);
    guard = new Guard({ directory: folder });
    const { metrics, probes } = await freePorts(['metrics', 'probes']);
    const ports = ['--metrics-port', String(metrics), '--health-probe-port', String(probes), '--host', '127.0.0.1'];
    const lease = ['--leader-election-namespace', 'default'];
    spindrift = ManagedProcess.start({
      name: 'spindrift',
      command: process.execPath,
      arguments: [SPINDRIFT, 'run', '--kubeconfig', kubeconfigPath, '--cloud', 'simulated', ...ports, ...lease],
      logFile: join(folder, 'spindrift.log'),
      clock,
      guard,
      onFailure: () => undefined,
    });
    prometheus = await RunningPrometheus.start({
      program: program ?? '',
      clock,
      targetPort: metrics,
      // As a ServiceMonitor gives them.
      targetLabels: { namespace: 'kube-system', service: 'spindrift', pod: 'spindrift-0', container: 'controller' },
      groups: ruleGroups(),
    });
  });

  afterAll(async () => {
    await prometheus?.stop();
    await spindrift?.stop(5000);
    await running?.stop();
    guard?.dismiss();
    rmSync(folder, { recursive: true, force: true });
  });

  it('reads its metrics, and no alert is raised while all is well', async () => {
    await until(async () => {
      const [target] = await prometheus.targets();
      return target?.health === 'up' ? undefined : `the target is ${target?.health}: ${target?.lastError}`;
    });
    const resources = { requests: { cpu: '1', memory: '1Gi' } };
    await running.cluster.client.create(DEPLOYMENTS, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 20,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'main', image: 'main:1', resources }] },
        },
      },
    });
    await webRuns(20);
    await scale(40);
    await webRuns(40);
    await until(async () => {
      const raised = await alerts('pending', 'firing');
      return raised.length === 0 ? undefined : `${raised.join(', ')} are raised`;
    });
  });

  it('evaluates every rule of the chart', async () => {
    const rules = await prometheus.rules();
    expect(rules.map(({ name }) => name).sort()).toEqual(
      readAlerts()
        .map(({ alert }) => alert)
        .sort(),
    );
    const bad = rules.filter(({ health, lastError = '' }) => health !== 'ok' || lastError !== '');
    expect(bad).toEqual([]);
  });

  it('fires an alert when its cause is there, and clears it afterwards', async () => {
    const { client } = running.cluster;
    const resources = { requests: { cpu: '5000' } };
    await client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'too-large', namespace: 'default' },
      spec: { containers: [{ name: 'main', image: 'main:1', resources }] },
    });
    await until(async () => {
      const firing = await alerts('firing');
      return firing.includes('SpindriftPodsUnschedulable') ? undefined : `firing: ${firing.join(', ') || 'nothing'}`;
    });
    expect(await alerts('firing')).toEqual(['SpindriftPodsUnschedulable']);
    await client.delete(PODS, { namespace: 'default', name: 'too-large' });
    await until(async () => {
      const raised = await alerts('pending', 'firing');
      return raised.length === 0 ? undefined : `${raised.join(', ')} are still raised`;
    });
  });

  it('has an answer for every panel of the dashboards, once the cloud has taken a machine back', async () => {
    const { client } = running.cluster;
    const [node] = (await client.list(NODES)).items.filter(
      ({ metadata }) => metadata.labels?.['karpenter.sh/capacity-type'] === 'spot',
    );
    const name = node?.metadata.name ?? '';
    const annotations = { [ANNOTATION_INTERRUPT]: '30s' };
    await client.patch(NODES, { name }, { type: 'merge', body: { metadata: { annotations } } });
    await until(async () => {
      const { items } = await client.list(NODES);
      return items.some(({ metadata }) => metadata.name === name) ? `${name} is still there` : undefined;
    });
    await webRuns(40);
    const queries = readDashboardQueries();
    expect(Object.keys(EMPTY).filter((panel) => !queries.some((query) => query.panel === panel))).toEqual([]);
    const wanted = queries.filter(({ panel }) => !(panel in EMPTY));
    for (const { expr } of queries) await prometheus.queryRange(expr, LIFE_S);
    await until(async () => {
      const bare: string[] = [];
      for (const { dashboard, panel, expr } of wanted) {
        const series = await prometheus.queryRange(expr, LIFE_S);
        if (!series.some(({ values }) => values.some(([, value]) => Number.isFinite(Number(value)))))
          bare.push(`${dashboard}: ${panel}: ${expr}`);
      }
      return bare.length === 0 ? undefined : `no data for\n${bare.join('\n')}`;
    });
  });
});

it.skipIf(program !== undefined)(
  'alerts and dashboards are not seen in a Prometheus: npm run peers:prometheus downloads it',
  () => {},
);
