import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { AskMetadata } from '../agent/metadata/ask-metadata.ts';
import { AzureMetadata } from '../agent/testkit/azure-metadata.ts';
import { Ec2Metadata } from '../agent/testkit/ec2-metadata.ts';
import { GcpMetadata } from '../agent/testkit/gcp-metadata.ts';
import { type ServedMetadata, serveMetadata } from '../agent/testkit/serve-metadata.ts';
import { NODES } from '../apis/kubernetes/node.ts';
import { type StatedInterruption, statedInterruption } from '../apis/spindrift/interruption-condition.ts';
import { type RunningCluster, startEmbeddedCluster } from '../embedded/embedded-cluster-server.ts';
import { type EpochMs, toTimestamp } from '../platform/clock.ts';
import { seededRandom } from '../platform/random.ts';
import { RealClock } from '../platform/real-clock.ts';

const BIN = fileURLToPath(new URL('../../bin/spindrift.js', import.meta.url));
const clock = new RealClock();
let folder: string;
let cluster: RunningCluster;
let environment: Record<string, string>;
const children: ChildProcess[] = [];
const served: ServedMetadata[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spindrift-agent-'));
  const kubeconfigPath = join(folder, 'kubeconfig');
  cluster = await startEmbeddedCluster({ clock, random: seededRandom('agent'), port: 0, kubeconfigPath, nodes: 4 });
  const config = parse(readFileSync(kubeconfigPath, 'utf8'));
  const authority = Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64');
  writeFileSync(join(folder, 'ca.crt'), authority);
  writeFileSync(join(folder, 'token'), config.users[0].user.token);
  environment = {
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(cluster.port),
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
  };
});

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(served.map((each) => each.close()));
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function agent(node: string, cloud: string, ask: AskMetadata, ...more: string[]) {
  const metadata = await serveMetadata(ask);
  served.push(metadata);
  const args = [BIN, 'agent', '--node-name', node, '--cloud', cloud, '--metadata-url', metadata.url];
  const options = ['--service-account', folder, '--bus-socket', join(folder, 'none'), ...more];
  const child = spawn(process.execPath, [...args, ...options], {
    env: { ...inherited(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let log = '';
  let printed = '';
  child.stderr?.on('data', (text) => {
    log += text;
  });
  child.stdout?.on('data', (text) => {
    printed += text;
  });
  return { child, metadata, log: () => log, printed: () => printed };
}

function inherited(): Record<string, string> {
  const {
    PATH = '',
    HOME = '',
    TMPDIR,
  } = Object.fromEntries(
    readFileSync('/proc/self/environ', 'utf8')
      .split('\0')
      .map((line) => [line.split('=')[0] ?? '', line.slice(line.indexOf('=') + 1)]),
  );
  return { PATH, HOME, ...(TMPDIR !== undefined && { TMPDIR }) };
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>, withinMs: number): Promise<T> {
  const limit = clock.elapsed() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (clock.elapsed() > limit) throw new Error('it did not come to pass in time');
    await clock.sleep(50);
  }
}

async function statedOf(name: string): Promise<StatedInterruption | undefined> {
  const node = await cluster.cluster.client.get(NODES, { name });
  return (node.status?.conditions ?? []).flatMap((each) => statedInterruption(each) ?? [])[0];
}

describe('spindrift agent', () => {
  it('on GCP tells the cluster within 2 s of the flip, and takes less than 80 MB', async () => {
    const metadata = new GcpMetadata(clock);
    const { child, log } = await agent('node-1', 'gcp', metadata.ask);
    await until(() => (log().includes('listening') && metadata.requests >= 4) || undefined, 30_000);
    const flippedAt = clock.elapsed();
    metadata.set('preempted', 'TRUE');
    const stated = await until(() => statedOf('node-1'), 5000);
    expect(clock.elapsed() - flippedAt).toBeLessThan(2000);
    expect(stated).toMatchObject({ kind: 'spot-interruption', source: 'gce-metadata' });
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    const megabytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
    expect(megabytes).toBeLessThan(80);
  });

  it('on Azure tells the cluster within 2 s of the flip', async () => {
    const metadata = new AzureMetadata('vmss_3');
    const { log } = await agent('node-2', 'azure', metadata.ask);
    await until(() => (log().includes('listening') && metadata.requests > 1) || undefined, 30_000);
    const flippedAt = clock.elapsed();
    const NotBefore = toTimestamp((clock.now() + 30_000) as EpochMs);
    metadata.set([{ EventId: 'e', EventType: 'Preempt', Resources: ['VMSS_3'], NotBefore }]);
    const stated = await until(() => statedOf('node-2'), 5000);
    expect(clock.elapsed() - flippedAt).toBeLessThan(2000);
    expect(stated.source).toBe('azure-scheduled-events');
    expect(metadata.approvals).toBe(0);
  });

  it('prints what it hears with --once, and ends', async () => {
    const metadata = new Ec2Metadata(clock);
    metadata.values.set('autoscaling/target-lifecycle-state', 'Terminated');
    const { child, printed } = await agent('node-3', 'aws', metadata.ask, '--once');
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(0);
    expect(printed()).toMatch(/^imds: stopping at \S+: Its Auto Scaling group terminates the instance\n$/);
  });

  it('ends when it is asked to', async () => {
    const { child, log } = await agent('node-4', 'none', new Ec2Metadata(clock).ask);
    await until(() => log().includes('listening') || undefined, 30_000);
    child.kill('SIGTERM');
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  });
});
