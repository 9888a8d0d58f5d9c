/** The HTTP client against servers that behave badly, on real sockets. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAPS, NAMESPACES } from '../apis/kubernetes/core.ts';
import { CertificateAuthority } from '../platform/certificates.ts';
import { Metrics } from '../platform/metrics.ts';
import { RealClock } from '../platform/real-clock.ts';
import { connect } from './connect.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, call: number) => void;

const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x', resourceVersion: '1' } };
const KEY = { name: 'x' };

let folder: string;
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spindrift-http-'));
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rm(folder, { recursive: true });
});

function json(response: ServerResponse, code: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function status(code: number, message: string, more: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, message, ...more };
}

async function listening(server: {
  listen(port: number, host: string, ready: () => void): unknown;
  address(): unknown;
}): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return (server.address() as AddressInfo).port;
}

async function kubeconfig(server: string, cluster: object = {}, user: object = {}): Promise<string> {
  const file = join(folder, 'kubeconfig');
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'me', namespace: 'mine' } }],
    clusters: [{ name: 'here', cluster: { server, ...cluster } }],
    users: [{ name: 'me', user }],
  };
  await writeFile(file, JSON.stringify(content));
  return file;
}

/** A plain server and a client for it. */
async function plain(handler: Handler, options: { timeoutMs?: number; maxRetries?: number } = {}) {
  let calls = 0;
  const server = createServer((request, response) => handler(request, response, ++calls));
  const port = await listening(server);
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const metrics = new Metrics();
  const connected = await connect({
    clock: new RealClock(),
    kubeconfig: await kubeconfig(`http://127.0.0.1:${port}`),
    metrics,
    ...options,
  });
  closing.push(() => connected.connection.close());
  return { ...connected, metrics, port, calls: () => calls };
}

describe('a request', () => {
  it('is sent again when the server asks to come back later', async () => {
    const { client, calls } = await plain((_request, response, call) =>
      call < 3 ? json(response, 429, status(429, 'slow down'), { 'retry-after': '0' }) : json(response, 200, NAMESPACE),
    );
    expect((await client.get(NAMESPACES, KEY)).metadata.name).toBe('x');
    expect(calls()).toBe(3);
  });

  it('is not sent for ever', async () => {
    const handler: Handler = (_request, response) =>
      json(response, 429, status(429, 'slow down'), { 'retry-after': '0' });
    const { client, calls } = await plain(handler, { maxRetries: 4 });
    await expect(client.get(NAMESPACES, KEY)).rejects.toMatchObject({ code: 'KUBE_THROTTLED', message: 'slow down' });
    expect(calls()).toBe(5);
  });

  it('is not sent again when a budget forbids an eviction: that is an answer', async () => {
    const details = {
      causes: [{ reason: 'DisruptionBudget', message: 'needs 1 healthy pods' }],
      retryAfterSeconds: 10,
    };
    const { client, calls } = await plain((_request, response) => json(response, 429, status(429, 'no', { details })));
    const eviction = client.evict({ namespace: 'a', name: 'b' });
    await expect(eviction).rejects.toMatchObject({ code: 'KUBE_DISRUPTION_BUDGET', retryAfterMs: 10_000 });
    expect(calls()).toBe(1);
  });

  it('that only reads is sent again when the connection breaks', async () => {
    const { client, calls } = await plain((request, response, call) =>
      call === 1 ? request.socket.destroy() : json(response, 200, NAMESPACE),
    );
    await client.get(NAMESPACES, KEY);
    expect(calls()).toBe(2);
  });

  it('that writes is not sent again when the connection breaks: it may have been carried out', async () => {
    const { client, calls, port } = await plain((request) => request.socket.destroy());
    const creation = client.create(NAMESPACES, NAMESPACE);
    await expect(creation).rejects.toMatchObject({
      code: 'KUBE_UNREACHABLE',
      message: expect.stringContaining(`POST /api/v1/namespaces got no answer from http://127.0.0.1:${port}`),
    });
    expect(calls()).toBe(1);
  });

  it('that writes is sent again when the server was not even reached', async () => {
    const blocked = createServer();
    const port = await listening(blocked);
    await new Promise((closed) => blocked.close(closed));
    const file = await kubeconfig(`http://127.0.0.1:${port}`);
    const { client, connection } = await connect({ clock: new RealClock(), kubeconfig: file });
    closing.push(() => connection.close());
    const creation = client.create(NAMESPACES, NAMESPACE);
    const late = createServer((_request, response) => json(response, 201, NAMESPACE));
    await new Promise<void>((ready) => late.listen(port, '127.0.0.1', ready));
    closing.push(() => {
      late.closeAllConnections();
      late.close();
    });
    expect((await creation).metadata.name).toBe('x');
  });

  it('is given up after its time, and says which it was', async () => {
    const { client } = await plain(() => {}, { timeoutMs: 100 });
    await expect(client.get(NAMESPACES, KEY)).rejects.toMatchObject({
      code: 'KUBE_UNREACHABLE',
      message: expect.stringMatching(/^GET \/api\/v1\/namespaces\/x got no answer .* not finished within 100 ms$/),
    });
  });

  it('is given up at once when its signal aborts', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const { client } = await plain(() => stop.abort(reason));
    await expect(client.get(NAMESPACES, KEY, { signal: stop.signal })).rejects.toBe(reason);
  });

  it('that is refused without a Status says what came instead', async () => {
    const { client } = await plain((_request, response) => {
      response.writeHead(502).end('bad gateway\n');
    });
    await expect(client.get(NAMESPACES, KEY)).rejects.toMatchObject({
      code: 'KUBE_SERVER_ERROR',
      message: 'bad gateway',
    });
  });

  it('that is answered by something that is not Kubernetes says so', async () => {
    const { client } = await plain((_request, response) => {
      response.end('<html>welcome</html>');
    });
    await expect(client.get(NAMESPACES, KEY)).rejects.toMatchObject({
      code: 'KUBE_PROTOCOL',
      message: expect.stringContaining('<html>welcome</html>'),
    });
  });

  it('is counted by method and answer', async () => {
    const { client, metrics } = await plain((_request, response) => json(response, 404, status(404, 'none')));
    await client.get(NAMESPACES, KEY).catch(() => {});
    expect(await metrics.read('rest_client_requests_total', { method: 'GET', code: '404' })).toBe(1);
  });

  it('never becomes one for a whole collection by a missing name', async () => {
    const { client, calls } = await plain((_request, response) => json(response, 200, NAMESPACE));
    await expect(client.delete(NAMESPACES, { name: '' })).rejects.toThrow('a Namespace needs a name');
    await expect(client.delete(CONFIG_MAPS, { name: 'x' })).rejects.toThrow('the ConfigMap x needs a namespace');
    expect(calls()).toBe(0);
  });
});

describe('a watch', () => {
  const line = (type: string, name: string): string =>
    `${JSON.stringify({ type, object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, resourceVersion: '1' } } })}\n`;

  async function collect(handler: Handler): Promise<{ names: string[]; error?: unknown }> {
    const { client } = await plain(handler);
    const names: string[] = [];
    try {
      for await (const event of client.watch(NAMESPACES, {}, { signal: new AbortController().signal })) {
        if (event.type !== 'BOOKMARK') names.push(`${event.type} ${event.object.metadata.name}`);
      }
      return { names };
    } catch (error) {
      return { names, error };
    }
  }

  it('is read event by event, however the bytes are cut', async () => {
    const bytes = Buffer.from(line('ADDED', 'ä') + line('MODIFIED', '日本'));
    const { names } = await collect((_request, response) => {
      for (const byte of bytes) response.write(Buffer.of(byte));
      response.end();
    });
    expect(names).toEqual(['ADDED ä', 'MODIFIED 日本']);
  });

  it('that breaks gives what came before and then fails', async () => {
    const { names, error } = await collect((_request, response) => {
      response.write(line('ADDED', 'a'));
      response.write('{"type":"ADD', () => response.destroy());
    });
    expect(names).toEqual(['ADDED a']);
    expect(error).toMatchObject({ code: 'KUBE_UNREACHABLE' });
  });

  it('fails with the error that the server sends as its last event', async () => {
    const { error } = await collect((_request, response) => {
      response.end(`${JSON.stringify({ type: 'ERROR', object: status(410, 'too old', { reason: 'Expired' }) })}\n`);
    });
    expect(error).toMatchObject({ code: 'KUBE_EXPIRED', message: 'too old' });
  });

  it('is closed when the loop over it is left', async () => {
    const closed = new Promise<void>((resolve) => {
      void collectOne((_request, response) => {
        response.on('close', resolve);
        response.write(line('ADDED', 'a'));
      });
    });
    await closed;
  });

  async function collectOne(handler: Handler): Promise<void> {
    const { client } = await plain(handler);
    for await (const _ of client.watch(NAMESPACES, {}, { signal: new AbortController().signal })) break;
  }
});

describe('credentials', () => {
  /** A TLS server that wants to know who asks, and what it saw of each request. */
  async function secure(check: (request: IncomingMessage) => boolean) {
    const authority = await CertificateAuthority.create('test-ca');
    const { certificate, key } = await authority.issue({ commonName: 'server', hosts: ['127.0.0.1'] });
    const options = {
      cert: certificate,
      key,
      ca: authority.keyPair.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    };
    const server: Server = createTlsServer(options, (request, response) =>
      check(request) ? json(response, 200, NAMESPACE) : json(response, 401, status(401, 'Unauthorized')),
    );
    const port = await listening(server);
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const cluster = { 'certificate-authority-data': Buffer.from(authority.keyPair.certificate).toString('base64') };
    return { authority, url: `https://127.0.0.1:${port}`, cluster };
  }

  async function clientFor(file: string) {
    const { client, connection } = await connect({ clock: new RealClock(), kubeconfig: file });
    closing.push(() => connection.close());
    return { client, connection };
  }

  it('may be a token', async () => {
    const { url, cluster } = await secure((request) => request.headers.authorization === 'Bearer secret');
    const { client, connection } = await clientFor(await kubeconfig(url, cluster, { token: 'secret' }));
    await client.get(NAMESPACES, KEY);
    expect(connection.namespace).toBe('mine');
  });

  it('may be a client certificate', async () => {
    const { authority, url, cluster } = await secure((request) => {
      const socket = request.socket as TLSSocket;
      return socket.authorized && socket.getPeerCertificate().subject.CN === 'me';
    });
    const pair = await authority.issue({ commonName: 'me', organizations: ['system:masters'] });
    const user = {
      'client-certificate-data': Buffer.from(pair.certificate).toString('base64'),
      'client-key-data': Buffer.from(pair.key).toString('base64'),
    };
    const { client } = await clientFor(await kubeconfig(url, cluster, user));
    await client.get(NAMESPACES, KEY);
  });

  it('may be a token in a file, which is read again when the server no longer knows it', async () => {
    let valid = 'first';
    const { url, cluster } = await secure((request) => request.headers.authorization === `Bearer ${valid}`);
    await writeFile(join(folder, 'token'), 'first');
    const { client } = await clientFor(await kubeconfig(url, cluster, { tokenFile: 'token' }));
    await client.get(NAMESPACES, KEY);
    valid = 'second';
    await writeFile(join(folder, 'token'), 'second');
    await client.get(NAMESPACES, KEY);
    valid = 'third';
    await expect(client.get(NAMESPACES, KEY)).rejects.toMatchObject({ code: 'KUBE_UNAUTHORIZED' });
  });

  it('may come from a program', async () => {
    const { url, cluster } = await secure((request) => request.headers.authorization === 'Bearer from-exec');
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'from-exec' },
    };
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', `console.log(${JSON.stringify(JSON.stringify(credential))})`],
      interactiveMode: 'Never',
    };
    const { client } = await clientFor(await kubeconfig(url, cluster, { exec }));
    await client.get(NAMESPACES, KEY);
  });

  it('that cannot be loaded are reported with their user', async () => {
    const { url, cluster } = await secure(() => true);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: join(folder, 'no-such-program') };
    const { client } = await clientFor(await kubeconfig(url, cluster, { exec }));
    await expect(client.get(NAMESPACES, KEY)).rejects.toMatchObject({
      code: 'KUBE_CONFIG_INVALID',
      message: expect.stringContaining('the credentials of user me cannot be loaded'),
    });
  });

  it('are never sent to a server that its certificate authority does not vouch for', async () => {
    const { url } = await secure(() => true);
    const other = await CertificateAuthority.create('other-ca');
    const cluster = { 'certificate-authority-data': Buffer.from(other.keyPair.certificate).toString('base64') };
    const file = await kubeconfig(url, cluster, { token: 'secret' });
    const { client, connection } = await connect({ clock: new RealClock(), kubeconfig: file, maxRetries: 0 });
    closing.push(() => connection.close());
    await expect(client.get(NAMESPACES, KEY)).rejects.toMatchObject({ code: 'KUBE_UNREACHABLE' });
  });
});

describe('a kubeconfig', () => {
  const load = (options: { kubeconfig: string; context?: string }) => connect({ clock: new RealClock(), ...options });

  it('that is not there is said so, with its name', async () => {
    const file = join(folder, 'none');
    await expect(load({ kubeconfig: file })).rejects.toThrow(
      `no cluster to talk to: the kubeconfig ${file} cannot be read`,
    );
  });

  it('that does not have the context is said so, with those it has', async () => {
    const file = await kubeconfig('https://127.0.0.1:1');
    await expect(load({ kubeconfig: file, context: 'there' })).rejects.toThrow(
      'the kubeconfig has no context there; it has here',
    );
  });
});
