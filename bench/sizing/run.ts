/**
 * What `spindrift run` needs for a cluster of some size: `npm run bench -- sizing [NODES...]`. The cluster is `spindrift up --bare` in a
 * process of its own; the autoscaler launches all nodes itself, ten pods on each, and then stands for a minute.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import { installDefinitions } from '../../src/app/install-definitions.ts';
import { loadSimulatedCloud } from '../../src/cloud/simulated/module.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { freePorts } from '../../test/kubernetes/harness/free-ports.ts';
import { untilReady } from '../../test/kubernetes/harness/readiness.ts';
import { ClusterView } from '../end-to-end/cluster-view.ts';
import { usageOf } from '../end-to-end/process-usage.ts';
import { table } from '../report/table.ts';
import { SpindriftProcesses } from '../spindrift-processes.ts';

const PODS_PER_NODE = 10;
const DEFAULT_SIZES = [0, 250, 500, 1000];
const LIMIT_MS = 900_000;
const REST_MS = 60_000;

interface Figures {
  readonly nodes: number;
  readonly pods: number;
  /** Until all pods ran. */
  readonly seconds: number;
  readonly cpuSecondsToGrow: number;
  readonly peakMb: number;
  /** After it stood for a minute, and how much of a core that took. */
  readonly restMb: number;
  readonly restCores: number;
}

/** Measures each size and prints a table. */
export async function runSizing(args: readonly string[]): Promise<void> {
  const sizes = args.length === 0 ? DEFAULT_SIZES : args.map(Number);
  const figures: Figures[] = [];
  for (const nodes of sizes) {
    figures.push(await measure(nodes));
    console.error(JSON.stringify(figures.at(-1)));
  }
  console.log(
    table(
      ['nodes', 'pods', 'until all ran s', 'CPU s for it', 'peak MB', 'at rest MB', 'at rest cores'],
      figures.map(({ nodes, pods, seconds, cpuSecondsToGrow, peakMb, restMb, restCores }) => [
        ...[String(nodes), String(pods), seconds.toFixed(0), cpuSecondsToGrow.toFixed(1)],
        ...[peakMb.toFixed(0), restMb.toFixed(0), restCores.toFixed(3)],
      ]),
    ),
  );
  const results = join(import.meta.dirname, '..', 'results');
  mkdirSync(results, { recursive: true });
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  writeFileSync(join(results, 'sizing.json'), `${JSON.stringify({ machine, figures }, null, 2)}\n`);
}

async function measure(nodes: number): Promise<Figures> {
  const processes = new SpindriftProcesses('sizing');
  const { clock, kubeconfig } = processes;
  const { port, metrics, health } = await freePorts(['port', 'metrics', 'health']);
  try {
    processes.start('up', ['up', `--port=${port}`, '--nodes=0', `--kubeconfig=${kubeconfig}`, '--bare']);
    const { client, connection } = await processes.connected();
    await prepare(client);
    const ports = [`--metrics-port=${metrics}`, `--health-probe-port=${health}`];
    const args = ['run', `--kubeconfig=${kubeconfig}`, '--disable-leader-election', ...ports];
    const autoscaler = processes.start('run', args);
    const url = `http://127.0.0.1:${health}/readyz`;
    await untilReady({ name: 'run', url, authority: '', process: autoscaler, clock, deadlineMs: 60_000 });
    const pid = autoscaler.pid ?? 0;
    const pods = nodes * PODS_PER_NODE;
    const startedAt = clock.elapsed();
    if (nodes > 0) await client.create(DEPLOYMENTS, load(pods));
    const limit = clock.deadline(LIMIT_MS);
    await new ClusterView(client, []).untilRun(pods, limit.signal);
    limit.cancel();
    const seconds = (clock.elapsed() - startedAt) / 1000;
    const { cpuSeconds: cpuSecondsToGrow } = usageOf(pid);
    // What is left to do after the last pod ran is not rest yet.
    await clock.sleep(REST_MS / 2);
    const before = usageOf(pid).cpuSeconds;
    await clock.sleep(REST_MS);
    const { cpuSeconds, peakRssMb: peakMb } = usageOf(pid);
    const found = (await new ClusterView(client, []).nodes()).length;
    await connection.close();
    const restCores = (cpuSeconds - before) / (REST_MS / 1000);
    return { nodes: found, pods, seconds, cpuSecondsToGrow, peakMb, restMb: rssMb(pid), restCores };
  } finally {
    await processes.end();
  }
}

async function prepare(client: KubeClient): Promise<void> {
  await installDefinitions(client, [await loadSimulatedCloud()], new AbortController().signal);
  await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
  const { limits: _, ...spec } = DEFAULT_NODE_POOL.spec;
  const { template } = spec;
  // Machines of one size, so that the number of nodes is known.
  const small = { key: 'node.kubernetes.io/instance-type', operator: 'In' as const, values: ['m5.large', 'm6i.large'] };
  const requirements = [...template.spec.requirements, small];
  const sized = { ...template, spec: { ...template.spec, requirements } };
  await client.create(NODE_POOLS, { ...DEFAULT_NODE_POOL, spec: { ...spec, template: sized } });
}

/** Ten of these fill a machine of two cores. */
function load(replicas: number) {
  const labels = { app: 'load' };
  const requests = { cpu: '180m', memory: '256Mi' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'load', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'main', image: 'app:1', resources: { requests } }] },
      },
    },
  };
}

function rssMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
