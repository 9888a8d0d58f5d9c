/** What is measured of the embedded cluster. Each case runs in a process of its own, so that memory is its own too. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { ApiServer } from '../../src/embedded/apiserver/api-server.ts';
import { EmbeddedCluster } from '../../src/embedded/cluster.ts';
import { startEmbeddedCluster } from '../../src/embedded/embedded-cluster-server.ts';
import { InMemoryClient } from '../../src/embedded/in-memory-client.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { benchDeployment, benchPod } from './pods.ts';
import { ServerProcess } from './server-process.ts';

export interface Measurement {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** What it should be at least or at most, where there is an aim. */
  readonly aim?: string;
}

const PODS_IN_LIST = 10_000;
const clock = new RealClock();

function memory(): InMemoryClient {
  return new InMemoryClient(new ApiServer({ clock, random: seededRandom('bench') }));
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** Creates so many pods with so many requests under way at once. */
async function createPods(client: KubeClient, count: number, atOnce: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await client.create(PODS, benchPod(`pod-${next++}`));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function overHttp<T>(work: (client: KubeClient) => Promise<T>): Promise<T> {
  const server = await ServerProcess.start();
  const { client, connection } = await connect({
    clock,
    kubeconfig: server.kubeconfig,
    requestsPerSecond: 1e9,
    requestBurst: 1e9,
  });
  try {
    return await work(client);
  } finally {
    await connection.close();
    await server.stop();
  }
}

/** Opens watches, creates pods, and waits until every watch has told of every pod. */
async function fanOut(client: KubeClient, watches: number, pods: number): Promise<number> {
  const { resourceVersion } = await client.list(PODS, { limit: 1 });
  const stop = new AbortController();
  const done = Array.from({ length: watches }, async () => {
    let heard = 0;
    for await (const event of client.watch(PODS, { resourceVersion }, { signal: stop.signal })) {
      if (event.type === 'ADDED' && ++heard === pods) return;
    }
  });
  const took = await seconds(async () => {
    await createPods(client, pods, 16);
    await Promise.all(done);
  });
  stop.abort();
  return (watches * pods) / took;
}

async function tenThousandRunning(): Promise<Measurement[]> {
  const cluster = new EmbeddedCluster({ clock, random: seededRandom('bench') });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  await cluster.synced(stop.signal);
  const nodes = Array.from({ length: 1000 }, (_, index) => ({ name: `node-${index}` }));
  await Promise.all(nodes.map((node) => cluster.kubelets.join(node)));
  const before = process.memoryUsage().rss;
  const took = await seconds(async () => {
    const ready = allReady(cluster.client, PODS_IN_LIST);
    for (let index = 0; index < 10; index++) {
      await cluster.client.create(DEPLOYMENTS, benchDeployment(`app-${index}`, PODS_IN_LIST / 10));
    }
    await ready;
  });
  const { rss } = process.memoryUsage();
  stop.abort();
  await running;
  return [
    { what: '10,000 pods of 10 Deployments running and ready on 1,000 nodes', value: took, unit: 's', aim: '≤ 20' },
    { what: 'memory of the process then', value: rss / 2 ** 20, unit: 'MB', aim: '< 400' },
    { what: 'of that per pod', value: (rss - before) / 1024 / PODS_IN_LIST, unit: 'KB' },
  ];
}

async function allReady(client: KubeClient, count: number): Promise<void> {
  const ready = new Set<string>();
  for await (const event of client.watch(PODS, {}, { signal: new AbortController().signal })) {
    if (event.type === 'BOOKMARK') continue;
    const conditions = event.object.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) {
      ready.add(event.object.metadata.name ?? '');
      if (ready.size === count) return;
    }
  }
}

async function startUp(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'spindrift-bench-'));
  const options = { clock, random: seededRandom('bench'), port: 0, kubeconfigPath: join(folder, 'kubeconfig') };
  const start = performance.now();
  const running = await startEmbeddedCluster(options);
  const took = performance.now() - start;
  await running.stop();
  rmSync(folder, { recursive: true });
  return [{ what: 'start of a cluster with 3 nodes, over TLS', value: took, unit: 'ms', aim: '< 3000' }];
}

export const CASES: Readonly<Record<string, () => Promise<Measurement[]>>> = {
  start: startUp,

  'create-memory': async () => {
    const client = memory();
    const took = await seconds(() => createPods(client, 20_000, 1));
    return [{ what: 'creates of a pod, in memory', value: 20_000 / took, unit: '/s', aim: '≥ 5,000' }];
  },

  'create-http': () =>
    overHttp(async (client) => {
      const took = await seconds(() => createPods(client, 5000, 16));
      return [{ what: 'creates of a pod, over HTTPS', value: 5000 / took, unit: '/s', aim: '≥ 1,500' }];
    }),

  'list-memory': async () => {
    const client = memory();
    await createPods(client, PODS_IN_LIST, 1);
    const took = await seconds(async () => void (await client.list(PODS)));
    return [{ what: 'list of 10,000 pods, in memory', value: took * 1000, unit: 'ms' }];
  },

  'list-http': () =>
    overHttp(async (client) => {
      await createPods(client, PODS_IN_LIST, 16);
      const took = await seconds(async () => void (await client.list(PODS, {}, { timeoutMs: 60_000 })));
      return [{ what: 'list of 10,000 pods, over HTTPS, read and parsed', value: took * 1000, unit: 'ms' }];
    }),

  'watch-memory': async () => {
    const rate = await fanOut(memory(), 100, 1000);
    return [{ what: 'events to 100 watchers, in memory', value: rate, unit: '/s' }];
  },

  'watch-http': () =>
    overHttp(async (client) => {
      const rate = await fanOut(client, 100, 500);
      return [{ what: 'events to 100 watchers, over HTTPS, parsed by one client process', value: rate, unit: '/s' }];
    }),

  running: tenThousandRunning,
};
