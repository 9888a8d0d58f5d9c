/** `spindrift run` on bad days, over real sockets: few lines that say what is wrong, and probes that tell the truth. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RunningCluster, startEmbeddedCluster } from '../embedded/embedded-cluster-server.ts';
import { seededRandom } from '../platform/random.ts';
import { RealClock } from '../platform/real-clock.ts';
import { installDefinitions } from './install-definitions.ts';
import { loadClouds } from './load-clouds.ts';
import { run } from './run.ts';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly because?: string;
  readonly problem?: string;
  readonly holder?: string;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

let folder: string;
let stops: (() => Promise<unknown>)[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spindrift-run-'));
  stops = [];
});

afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  await rm(folder, { recursive: true });
});

/** A copy of the kubeconfig, because the cluster takes its own away when it ends. */
async function aCluster(): Promise<{ running: RunningCluster; kubeconfig: string }> {
  const kubeconfigPath = join(folder, 'kubeconfig');
  const options = { clock: new RealClock(), random: seededRandom('run'), port: 0, nodes: 1, kubeconfigPath };
  const running = await startEmbeddedCluster(options);
  const kubeconfig = join(folder, 'copy');
  await writeFile(kubeconfig, await readFile(kubeconfigPath));
  stops.push(() => running.stop().catch(() => {}));
  return { running, kubeconfig };
}

async function aReplica(kubeconfig: string, settings?: string) {
  const lines: Line[] = [];
  const stop = new AbortController();
  const probes = await freePort();
  const work = run({
    kubeconfig,
    settings,
    context: undefined,
    clusterName: 'test',
    host: '127.0.0.1',
    metricsPort: 0,
    healthProbePort: probes,
    disableLeaderElection: false,
    leaderElectionName: 'test',
    leaderElectionNamespace: 'default',
    installDefinitions: false,
    clouds: ['simulated'],
    interruptionConditions: [],
    cloudOptions: {},
    batchIdleMs: 1000,
    batchMaxMs: 10_000,
    kubeClientQps: 500,
    kubeClientBurst: 1000,
    gpuNames: 'known',
    movePrice: 0.1,
    podDeletionCost: false,
    readyReplicas: false,
    logLevel: 'info',
    logFormat: 'json',
    log: (text) =>
      lines.push(
        ...text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Line),
      ),
    signal: stop.signal,
  });
  stops.push(() => {
    stop.abort(new Error('the test is over'));
    return work;
  });
  const ready = async (): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${probes}/readyz`);
    return [response.status, await response.text()];
  };
  return { lines, ready };
}

const wait = { timeout: 20_000, interval: 100 };

describe('spindrift run', () => {
  it('says in one sentence that definitions are missing, is not ready until they are there, and then works', async () => {
    const { running, kubeconfig } = await aCluster();
    const { lines, ready } = await aReplica(kubeconfig);
    await vi.waitFor(async () => expect((await ready())[1]).toContain('does not serve'), wait);
    expect((await ready())[0]).toBe(503);
    const said = lines.filter(({ level }) => level !== 'INFO');
    expect(said).toHaveLength(1);
    expect(said[0]?.because).toMatch(
      /^https:\S+ does not serve nodeclaims\.karpenter\.sh, nodepools\.karpenter\.sh, .*: install the definitions with the CRD chart, or start with --install-definitions$/,
    );
    await installDefinitions(running.cluster.client, await loadClouds(['simulated'], {}), new AbortController().signal);
    await vi.waitFor(async () => expect(await ready()).toEqual([200, 'ok\n']), wait);
    await vi.waitFor(() => expect(lines.map(({ message }) => message)).toContain('leading'), wait);
  });

  it('is not ready while the API server is down, and says so in a line or two', async () => {
    const { running, kubeconfig } = await aCluster();
    await installDefinitions(running.cluster.client, await loadClouds(['simulated'], {}), new AbortController().signal);
    const { lines, ready } = await aReplica(kubeconfig);
    await vi.waitFor(() => expect(lines.map(({ message }) => message)).toContain('leading'), wait);
    await vi.waitFor(async () => expect(await ready()).toEqual([200, 'ok\n']), wait);
    const before = lines.length;
    await running.stop();
    await vi.waitFor(async () => expect((await ready())[0]).toBe(503), wait);
    expect((await ready())[1]).toMatch(/^the API server at https:\S+ does not answer: .+/);
    await vi.waitFor(() => expect(lines.map(({ message }) => message)).toContain('no longer leading'), wait);
    const since = lines.slice(before);
    expect(since.filter(({ message }) => message.startsWith('the API server does not answer'))).toHaveLength(1);
    expect(since.map(({ message }) => message).toSorted()).toEqual([
      'leadership lost: the lease could not be renewed in time',
      'no longer leading',
      'the API server does not answer, retrying',
    ]);
    expect(JSON.stringify(since)).not.toContain('.ts:');
  });

  it('waits for an API server that is not there yet', async () => {
    const { running, kubeconfig } = await aCluster();
    await running.stop();
    const { lines, ready } = await aReplica(kubeconfig);
    await vi.waitFor(async () => expect((await ready())[1]).toContain('ECONNREFUSED'), wait);
    await vi.waitFor(() => expect(lines).toHaveLength(2), wait);
    expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'INFO starting',
      'WARN the API server does not answer, retrying',
    ]);
  });

  it('says that it stands by while another replica leads', async () => {
    const { running, kubeconfig } = await aCluster();
    await installDefinitions(running.cluster.client, await loadClouds(['simulated'], {}), new AbortController().signal);
    const first = await aReplica(kubeconfig);
    await vi.waitFor(() => expect(first.lines.map(({ message }) => message)).toContain('leading'), wait);
    const second = await aReplica(kubeconfig);
    await vi.waitFor(() => expect(second.lines.at(-1)?.message).toBe('standing by: another replica leads'), wait);
    expect(second.lines.at(-1)?.holder).toMatch(/_/);
    await vi.waitFor(async () => expect(await second.ready()).toEqual([200, 'ok\n']), wait);
  });

  it('logs more without a restart when its settings file says so', async () => {
    const { running, kubeconfig } = await aCluster();
    await installDefinitions(running.cluster.client, await loadClouds(['simulated'], {}), new AbortController().signal);
    const settings = join(folder, 'settings.yaml');
    await writeFile(settings, 'log-level: warn\n');
    const { lines, ready } = await aReplica(kubeconfig, settings);
    await vi.waitFor(async () => expect(await ready()).toEqual([200, 'ok\n']), wait);
    expect(lines).toEqual([]);
    await writeFile(settings, 'log-level: debug\n');
    await vi.waitFor(() => expect(lines.map(({ message }) => message)).toContain('settings were applied'), wait);
  });
});
