/**
 * Provisioning on the embedded cluster, in real time: `npm run bench -- embedded-provisioning`. Once as `spindrift up` has it, cluster
 * and autoscaler in one process, and once with the autoscaler alone in a process, which shows what is its own.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import { installDefinitions } from '../../src/app/install-definitions.ts';
import { loadSimulatedCloud } from '../../src/cloud/simulated/module.ts';
import { freePorts } from '../../test/kubernetes/harness/free-ports.ts';
import type { ManagedProcess } from '../../test/kubernetes/harness/managed-process.ts';
import { untilReady } from '../../test/kubernetes/harness/readiness.ts';
import { table } from '../report/table.ts';
import { SpindriftProcesses } from '../spindrift-processes.ts';
import { ClusterView } from './cluster-view.ts';
import { deployments } from './load.ts';
import { type Usage, usageOf } from './process-usage.ts';

const PODS = 2000;
const TIME_LIMIT_MS = 300_000;

interface Figures {
  readonly what: string;
  readonly seconds: number;
  readonly nodes: number;
  readonly cluster: Usage;
  /** Absent when it is in the process of the cluster. */
  readonly autoscaler?: Usage;
}

/** Measures both and prints a table. */
export async function runEmbeddedProvisioning(): Promise<void> {
  const figures = [await measure(false), await measure(true)];
  const used = (usage: Usage | undefined): string[] =>
    usage === undefined ? ['', ''] : [usage.cpuSeconds.toFixed(1), usage.peakRssMb.toFixed(0)];
  console.log(
    table(
      [`${PODS} pods`, 's', 'nodes', 'cluster CPU s', 'peak MB', 'autoscaler CPU s', 'peak MB'],
      figures.map(({ what, seconds, nodes, cluster, autoscaler }) => [
        what,
        seconds.toFixed(1),
        String(nodes),
        ...used(cluster),
        ...used(autoscaler),
      ]),
    ),
  );
  const results = join(import.meta.dirname, '..', 'results');
  mkdirSync(results, { recursive: true });
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  writeFileSync(join(results, 'embedded-provisioning.json'), `${JSON.stringify({ machine, figures }, null, 2)}\n`);
}

async function measure(apart: boolean): Promise<Figures> {
  const processes = new SpindriftProcesses('embedded');
  const { clock, kubeconfig } = processes;
  const { port, metrics, health } = await freePorts(['port', 'metrics', 'health']);
  const url = `http://127.0.0.1:${health}/readyz`;
  const { signal } = new AbortController();
  try {
    const bare = apart ? ['--bare'] : [];
    const args = ['up', `--port=${port}`, '--nodes=0', `--kubeconfig=${kubeconfig}`, ...bare];
    const cluster = processes.start('up', args);
    const { client, connection } = await processes.connected();
    let autoscaler: ManagedProcess | undefined;
    if (apart) {
      await installDefinitions(client, [await loadSimulatedCloud()], signal);
      await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
      await client.create(NODE_POOLS, DEFAULT_NODE_POOL);
      const ports = [`--metrics-port=${metrics}`, `--health-probe-port=${health}`];
      autoscaler = processes.start('run', [
        ...['run', `--kubeconfig=${kubeconfig}`, '--disable-leader-election'],
        ...ports,
      ]);
      const deadlineMs = 60_000;
      await untilReady({ name: 'run', url, authority: '', process: autoscaler, clock, deadlineMs });
    }
    const view = new ClusterView(client, []);
    const startedAt = clock.elapsed();
    for (const deployment of deployments(PODS)) await client.create(DEPLOYMENTS, deployment);
    while (!(await view.allRunning(PODS))) {
      if (clock.elapsed() - startedAt > TIME_LIMIT_MS) throw new Error('the pods do not run');
      await clock.sleep(250);
    }
    const seconds = (clock.elapsed() - startedAt) / 1000;
    const nodes = (await view.nodes()).length;
    await connection.close();
    return {
      what: apart ? 'spindrift up --bare and spindrift run' : 'spindrift up',
      seconds,
      nodes,
      cluster: usageOf(cluster.pid ?? 0),
      ...(autoscaler === undefined ? {} : { autoscaler: usageOf(autoscaler.pid ?? 0) }),
    };
  } finally {
    await processes.end();
  }
}
