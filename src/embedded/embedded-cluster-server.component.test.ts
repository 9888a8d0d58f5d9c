import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect as connectSocket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODES } from '../apis/kubernetes/node.ts';
import { connect } from '../kube/connect.ts';
import { seededRandom } from '../platform/random.ts';
import { RealClock } from '../platform/real-clock.ts';
import {
  type EmbeddedClusterServerOptions,
  type RunningCluster,
  startEmbeddedCluster,
} from './embedded-cluster-server.ts';

let folder: string;
let kubeconfigPath: string;
let running: RunningCluster[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spindrift-cluster-'));
  kubeconfigPath = join(folder, 'below', 'kubeconfig');
  running = [];
});

afterEach(async () => {
  await Promise.all(running.map((cluster) => cluster.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function start(options: Partial<EmbeddedClusterServerOptions> = {}): Promise<RunningCluster> {
  const cluster = await startEmbeddedCluster({
    clock: new RealClock(),
    random: seededRandom('server'),
    port: 0,
    kubeconfigPath,
    nodes: 2,
    ...options,
  });
  running.push(cluster);
  return cluster;
}

describe('startEmbeddedCluster', () => {
  it('gives a cluster with nodes, and a file of the owner alone that leads to it', async () => {
    const cluster = await start();
    expect(cluster.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect((await stat(kubeconfigPath)).mode & 0o777).toBe(0o600);
    const { client, connection } = await connect({ clock: new RealClock(), kubeconfig: kubeconfigPath });
    expect((await client.list(NODES)).items.map(({ metadata }) => metadata.name)).toEqual(['node-1', 'node-2']);
    await connection.close();
  });

  it('stops also while a client has not finished its handshake', async () => {
    const cluster = await start();
    const socket = connectSocket(cluster.port, '127.0.0.1');
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    // Makes sure that the server has accepted the connection.
    const { client, connection } = await connect({ clock: new RealClock(), kubeconfig: kubeconfigPath });
    await client.list(NODES);
    await cluster.stop();
    running = [];
    await closed;
    await connection.close();
  });

  it('replaces a kubeconfig of its own, and takes it away when it stops', async () => {
    const first = await start();
    const old = await readFile(kubeconfigPath, 'utf8');
    await first.stop();
    running = [];
    await expect(stat(kubeconfigPath)).rejects.toMatchObject({ code: 'ENOENT' });
    // As left behind by a killed process.
    await writeFile(kubeconfigPath, old);
    const { url } = await start();
    expect(await readFile(kubeconfigPath, 'utf8')).toContain(url);
  });

  it('does not take a kubeconfig from a cluster that runs, nor away what leads to another by now', async () => {
    const first = await start();
    await expect(start()).rejects.toMatchObject({ code: 'EMBEDDED_KUBECONFIG_IN_USE', details: { url: first.url } });
    const other = (await readFile(kubeconfigPath, 'utf8')).replace(first.url, 'https://127.0.0.1:1');
    await writeFile(kubeconfigPath, other);
    await first.stop();
    expect(await readFile(kubeconfigPath, 'utf8')).toBe(other);
  });

  it('never touches a kubeconfig of someone else', async () => {
    await mkdir(join(folder, 'below'));
    await writeFile(kubeconfigPath, 'apiVersion: v1\nkind: Config\n');
    await expect(start()).rejects.toMatchObject({ code: 'EMBEDDED_KUBECONFIG_FOREIGN' });
    expect(await readFile(kubeconfigPath, 'utf8')).toBe('apiVersion: v1\nkind: Config\n');
  });

  it('says so when the port is taken, and leaves no file behind', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    );
    await expect(start({ port })).rejects.toMatchObject({
      code: 'EMBEDDED_PORT_TAKEN',
      message: `port ${port} on 127.0.0.1 is in use by another program: choose another with --port`,
    });
    await expect(stat(kubeconfigPath)).rejects.toMatchObject({ code: 'ENOENT' });
    await new Promise((resolve) => other.close(resolve));
  });

  it('says so when the file cannot be written', async () => {
    await writeFile(join(folder, 'below'), 'a file, not a folder');
    await expect(start()).rejects.toMatchObject({
      code: 'EMBEDDED_FILE_UNWRITABLE',
      details: { path: kubeconfigPath },
    });
    await rm(join(folder, 'below'));
    await mkdir(kubeconfigPath, { recursive: true });
    await chmod(kubeconfigPath, 0o700);
    await expect(start()).rejects.toMatchObject({ code: 'EMBEDDED_FILE_UNWRITABLE' });
  });

  it('does not listen beyond this machine without TLS, nor on an address that is not here', async () => {
    await expect(start({ host: '0.0.0.0', tls: false })).rejects.toMatchObject({ code: 'EMBEDDED_HOST_UNSAFE' });
    await expect(start({ host: '192.0.2.1' })).rejects.toMatchObject({ code: 'EMBEDDED_PORT_REFUSED' });
  });
});
