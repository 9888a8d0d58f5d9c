/**
 * A new user's first hour: the manifests that people have (examples/first-hour), on what `npm start` starts. Everything runs, or
 * `why` says in a sentence what to do about it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { type KubeObject, type Resource, resource } from '../../src/apis/kubernetes/object.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../src/apis/kubernetes/pod-disruption-budget.ts';
import {
  CRON_JOBS,
  DAEMON_SETS,
  DEPLOYMENTS,
  JOBS,
  REPLICA_SETS,
  STATEFUL_SETS,
} from '../../src/apis/kubernetes/workloads.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { up } from '../../src/app/up.ts';
import { main } from '../../src/cli/main.ts';
import { type Manifest, readManifests } from '../../src/cli/plan/read-manifests.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { RealClock } from '../../src/platform/real-clock.ts';

const examples = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'examples');
const folder = mkdtempSync(join(tmpdir(), 'spindrift-first-hour-'));
const kubeconfig = join(folder, 'kubeconfig');
const stop = new AbortController();
let running: Promise<void>;
let client: KubeClient;
let connection: Connection;

const SERVICES = resource('v1', 'Service', 'services', 'namespaced');
const PRIORITY_CLASSES = resource('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', 'cluster');
const KINDS = [
  ...[DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, JOBS, CRON_JOBS, POD_DISRUPTION_BUDGETS, SERVICES, PRIORITY_CLASSES],
  ...[NODE_POOLS, SIMULATED_NODE_CLASSES],
] as unknown as readonly Resource[];

async function apply({ object }: Manifest): Promise<void> {
  const kind = KINDS.find((one) => one.kind === object.kind);
  if (kind === undefined) throw new Error(`${object.kind} is not in the table of this test`);
  const metadata = kind.namespaced ? { ...object.metadata, namespace: 'default' } : object.metadata;
  const key = { name: metadata.name ?? '', ...(metadata.namespace !== undefined && { namespace: metadata.namespace }) };
  const patch = { type: 'apply', body: { ...object, metadata } as KubeObject } as const;
  await client.patch(kind, key, patch, { fieldManager: 'user', fieldValidation: 'Strict' });
}

async function spindrift(...args: string[]): Promise<{ code: number; printed: string }> {
  let printed = '';
  const collect = (text: string): void => {
    printed += text;
  };
  return { code: await main(args, { out: collect, err: collect }), printed };
}

/** What of the workloads is not as it should be yet. */
async function unfinished(): Promise<string[]> {
  const deployments = (await client.list(DEPLOYMENTS)).items.flatMap(({ metadata, spec, status }) =>
    status?.availableReplicas === spec.replicas ? [] : [`${metadata.name} ${status?.availableReplicas ?? 0}`],
  );
  const sets = (await client.list(STATEFUL_SETS)).items.flatMap(({ metadata, spec, status }) =>
    status?.readyReplicas === spec.replicas ? [] : [`${metadata.name} ${status?.readyReplicas ?? 0}`],
  );
  const daemons = (await client.list(DAEMON_SETS)).items.flatMap(({ metadata, status }) =>
    status !== undefined && status.numberReady === status.desiredNumberScheduled && (status.numberReady ?? 0) > 0
      ? []
      : [`${metadata.name} ${status?.numberReady} of ${status?.desiredNumberScheduled}`],
  );
  const cronJobs = (await client.list(CRON_JOBS)).items.flatMap(({ metadata, status }) =>
    status?.lastSuccessfulTime === undefined ? [metadata.name ?? ''] : [],
  );
  const jobs = (await client.list(JOBS)).items.flatMap(({ metadata, status }) =>
    metadata.name === 'import' && status?.succeeded !== 6 ? [`import ${status?.succeeded ?? 0}`] : [],
  );
  return [...deployments, ...sets, ...daemons, ...cronJobs, ...jobs];
}

const patience = { timeout: 50_000, interval: 250 };

beforeAll(async () => {
  await new Promise<void>((ready, fail) => {
    // What `npm start` runs, on a port of its own; time runs faster, so that a minute of a CronJob takes twelve seconds.
    running = up({
      port: 0,
      kubeconfigPath: kubeconfig,
      nodes: 3,
      speed: 5,
      quiet: false,
      bare: false,
      logLevel: 'error',
      logFormat: 'json',
      signal: stop.signal,
      out: () => ready(),
    });
    running.catch(fail);
  });
  ({ client, connection } = await connect({ clock: new RealClock(), kubeconfig }));
});

afterAll(async () => {
  await connection?.close();
  stop.abort();
  await running;
  rmSync(folder, { recursive: true });
});

describe('the first hour', () => {
  it('is planned before anything is there: every pod but the one with a GPU has a place', async () => {
    const { code, printed } = await spindrift('plan', '-f', join(examples, 'first-hour'));
    expect(printed).toContain('Unschedulable: 1 model:');
    expect(printed).toContain('to do: let pool default use instance types that have nvidia.com/gpu');
    expect(printed.match(/Unschedulable:/g)).toHaveLength(1);
    expect(Math.max(...printed.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
    expect(code).toBe(2);
  });

  it('sees everything run: spread, apart, with volumes, on every node, once and every minute, by priority', async () => {
    const { manifests, problems } = await readManifests([join(examples, 'first-hour')]);
    expect(problems).toEqual([]);
    for (const manifest of manifests) await apply(manifest);
    await vi.waitFor(async () => expect(await unfinished()).toEqual(['model 0']), patience);
    const zoneOf = new Map(
      (await client.list(NODES)).items.map(({ metadata }) => [
        metadata.name,
        metadata.labels?.['topology.kubernetes.io/zone'],
      ]),
    );
    const pods = (await client.list(PODS)).items.filter(({ status }) => status?.phase === 'Running');
    const of = (app: string): string[] =>
      pods.filter(({ metadata }) => metadata.labels?.app === app).map(({ spec }) => spec.nodeName ?? '');
    // A zone that gets its first node later counts from then on, so that the zones need not be equally full.
    expect(new Set(of('web').map((node) => zoneOf.get(node))).size).toBeGreaterThanOrEqual(3);
    expect(new Set(of('cache')).size).toBe(5);
    expect(new Set(of('db').map((node) => zoneOf.get(node))).size).toBe(3);
    expect([...zoneOf.values()].every((zone) => zone?.startsWith('sim-1'))).toBe(true);
  });

  it('is told what keeps the pod with a GPU, and sees it run when there is a pool for it', async () => {
    const [pod] = (await client.list(PODS)).items.filter(({ metadata }) => metadata.labels?.app === 'model');
    const { printed } = await spindrift('why', `pod/${pod?.metadata.name}`, '--kubeconfig', kubeconfig);
    expect(printed).toContain('is pending, and no pool can launch a node for it');
    expect(printed).toContain('to do: let pool default use instance types that have nvidia.com/gpu');
    const { manifests } = await readManifests([join(examples, 'gpu.yaml')]);
    for (const manifest of manifests) if (manifest.object.metadata.name === 'gpu') await apply(manifest);
    await vi.waitFor(async () => expect(await unfinished()).toEqual([]), patience);
  });

  it('drains the nodes of the start, and the database comes back where its volumes are', async () => {
    for (const name of ['node-1', 'node-2', 'node-3'])
      await client.patch(NODES, { name }, { type: 'merge', body: { spec: { unschedulable: true } } });
    for (const name of ['db-0', 'db-1', 'db-2']) {
      await client.delete(PODS, { namespace: 'default', name });
      await vi.waitFor(async () => {
        const { spec, status } = await client.get(PODS, { namespace: 'default', name });
        expect([status?.phase, spec.nodeName?.startsWith('node-')]).toEqual(['Running', false]);
      }, patience);
    }
  });

  it('plans for the cluster as kubectl prints it', async () => {
    const kinds = [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, CRON_JOBS, JOBS, PODS] as const;
    const lists = await Promise.all(kinds.map((kind) => client.list(kind as unknown as Resource)));
    const printed = { apiVersion: 'v1', kind: 'List', items: lists.flatMap(({ items }) => items) };
    const file = join(folder, 'printed.json');
    writeFileSync(file, JSON.stringify(printed));
    const pools = join(folder, 'pools.json');
    writeFileSync(
      pools,
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: (await client.list(NODE_POOLS)).items }),
    );
    const plan = await spindrift('plan', '-f', file, '-f', pools, '-o', 'json');
    expect(plan.code, plan.printed).toBe(0);
    const { podsPlaced, notes } = JSON.parse(plan.printed) as { podsPlaced: number; notes: string[] };
    // 12 web, 5 cache, 3 db, 4 payments, 1 model, 1 report; what has ended is not planned for.
    expect(podsPlaced).toBe(26);
    expect(notes.join()).toMatch(/ignored \d+ objects that controllers or kubelets create/);
    expect(notes).toContain('PriorityClass business-critical is not given: planned as priority 0');
  });
});
