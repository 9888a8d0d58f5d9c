import { Agent, get as httpGet, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap } from '../../../apis/kubernetes/core.ts';
import { seededRandom } from '../../../platform/random.ts';
import { RealClock } from '../../../platform/real-clock.ts';
import { InMemoryClient } from '../../in-memory-client.ts';
import { ApiServer } from '../api-server.ts';
import { type ListeningServer, listen } from './http-server.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

interface Answer {
  readonly code: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, never>> & { readonly message?: string; readonly reason?: string };
}

let server: ApiServer;
let client: InMemoryClient;
let listening: ListeningServer;
let errors: Error[];

beforeEach(async () => {
  server = new ApiServer({ clock: new RealClock(), random: seededRandom('http'), rememberedEvents: 64 });
  client = new InMemoryClient(server);
  errors = [];
  listening = await listen({ server, port: 0, onError: (error) => errors.push(error) });
});

afterEach(async () => {
  await listening.close();
});

function send(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(`${listening.url}${path}`, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    });
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = incoming.headers['content-type']?.startsWith('application/json') === true;
        resolve({
          code: incoming.statusCode ?? 0,
          headers: incoming.headers,
          body: isJson ? JSON.parse(text) : { message: text },
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

async function stillServes(): Promise<void> {
  expect((await send('GET', '/readyz')).code).toBe(200);
  expect(errors).toEqual([]);
}

describe('a request that is not as it should be', () => {
  it('is refused with 400 when its JSON is broken', async () => {
    for (const body of [
      '{',
      '{"a":',
      'null',
      '[]',
      '"text"',
      '',
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":[]}',
    ]) {
      expect(await send('POST', MAPS, body), body).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
    }
    await stillServes();
  });

  it('is refused with 413 when it is larger than three mebibytes, whether it says so before or not', async () => {
    const large = Buffer.alloc(10 * 1024 * 1024, 0x20);
    for (const headers of [{ 'content-length': String(large.length) }, { 'transfer-encoding': 'chunked' }]) {
      const answer = await send('POST', MAPS, large, headers);
      expect(answer).toMatchObject({ code: 413, body: { reason: 'RequestEntityTooLarge' } });
    }
    await stillServes();
  });

  it('is refused with 400 when it nests deeper than any object does', async () => {
    const depth = 100_000;
    const nest = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"data":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;
    expect(await send('POST', MAPS, nest)).toMatchObject({ code: 400, body: { message: 'exceeded max depth' } });
    const yaml = `${'['.repeat(2000)}${']'.repeat(2000)}`;
    expect((await send('POST', MAPS, yaml, { 'content-type': 'application/yaml' })).code).toBe(400);
    await stillServes();
  });

  it('can name a field __proto__ without changing what objects are', async () => {
    const body =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"proto","labels":{"__proto__":"x"}},"data":{"__proto__":"polluted","constructor":"y"}}';
    const refused = await send('POST', MAPS, body);
    expect(refused).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
    const made = await send('POST', MAPS, body.replace(',"labels":{"__proto__":"x"}', ''));
    expect(made.code).toBe(201);
    const patched = await send('PATCH', `${MAPS}/proto`, '{"data":{"__proto__":"again"}}', {
      'content-type': 'application/merge-patch+json',
    });
    expect(Object.entries(patched.body.data ?? {})).toContainEqual(['__proto__', 'again']);
    const operations = '[{"op":"add","path":"/__proto__/polluted","value":1}]';
    await send('PATCH', `${MAPS}/proto`, operations, { 'content-type': 'application/json-patch+json' });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    await stillServes();
  });

  it('is refused with 415 in a format that is not understood, and with 406 when it wants one', async () => {
    expect(await send('POST', MAPS, 'a,b', { 'content-type': 'text/csv' })).toMatchObject({ code: 415 });
    expect(await send('PATCH', `${MAPS}/x`, '{}', { 'content-type': 'application/json' })).toMatchObject({ code: 415 });
    expect(await send('GET', MAPS, undefined, { accept: 'text/html' })).toMatchObject({ code: 406 });
    expect(
      await send('POST', MAPS, 'k8s\0nonsense', { 'content-type': 'application/vnd.kubernetes.protobuf' }),
    ).toMatchObject({ code: 400 });
  });

  it('is refused with 404 or 405 where there is nothing to ask', async () => {
    for (const path of [
      '/nope',
      '/api/v2',
      '/apis/apps/v9/deployments',
      '/api/v1/nothings',
      `${MAPS}/a/b/c`,
      '/api/v1/%',
      `${MAPS}/absent`,
    ]) {
      expect((await send('GET', path)).code, path).toBe(404);
    }
    expect((await send('POST', '/api/v1/configmaps', '{}')).code).toBe(405);
    expect((await send('PUT', MAPS, '{}')).code).toBe(405);
    expect((await send('POST', '/version', '{}')).code).toBe(404);
  });

  it('costs nothing but itself when the client hangs up in the middle', async () => {
    const { port } = listening;
    const socket = connect(port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(
      `POST ${MAPS} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"api`,
    );
    socket.destroy();
    await stillServes();
  });
});

describe('the token', () => {
  it('opens everything, and without it only the version and the health are told', async () => {
    const guarded = await listen({ server, port: 0, token: 'secret' });
    const code = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
      const answer = await new Promise<IncomingMessage>((resolve) =>
        httpGet(`${guarded.url}${path}`, { headers }, resolve),
      );
      answer.resume();
      return answer.statusCode ?? 0;
    };
    expect(await code('/api/v1/nodes')).toBe(401);
    expect(await code('/api/v1/nodes', { authorization: 'Bearer wrong' })).toBe(401);
    expect(await code('/api/v1/nodes', { authorization: 'Bearer secret' })).toBe(200);
    expect(await code('/healthz')).toBe(200);
    expect(await code('/version')).toBe(200);
    await guarded.close();
  });
});

describe('a watch', () => {
  it('ends with 410 for a reader that is so slow that its place in the log is forgotten, and holds nobody else up', async () => {
    const socket = await openWatch(`${MAPS}?watch=1`);
    socket.pause();
    const large = 'x'.repeat(100_000);
    // More bytes than the sockets on both sides can buffer, and more events than the log remembers.
    for (let index = 0; index < 400; index++) await client.create(CONFIG_MAPS, configMap(`map-${index}`, { large }));
    await stillServes();
    let last = '';
    socket.on('data', (chunk: Buffer) => {
      last = (last + chunk.toString('latin1')).slice(-1000);
    });
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(last).toContain('"reason":"Expired","code":410');
  });

  it('is one of a thousand, and each hears of a change', async () => {
    const count = 1000;
    const agent = new Agent({ maxSockets: count });
    const streams = await Promise.all(
      Array.from(
        { length: count },
        () =>
          new Promise<IncomingMessage>((resolve, reject) => {
            httpGet(`${listening.url}${MAPS}?watch=1`, { agent }, resolve).on('error', reject);
          }),
      ),
    );
    const heard = streams.map(
      (stream) => new Promise<string>((resolve) => stream.once('data', (chunk: Buffer) => resolve(chunk.toString()))),
    );
    await client.create(CONFIG_MAPS, configMap('news'));
    const lines = await Promise.all(heard);
    expect(new Set(lines).size).toBe(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'news' } } });
    agent.destroy();
    await stillServes();
  });

  it('shows tables to those who ask for them, with the columns once', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const stream = await new Promise<IncomingMessage>((resolve) =>
      httpGet(`${listening.url}${MAPS}?watch=1&timeoutSeconds=1`, { headers: { accept } }, resolve),
    );
    await client.create(CONFIG_MAPS, configMap('one', { a: '1' }));
    await client.create(CONFIG_MAPS, configMap('two'));
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    const tables = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).object);
    expect(tables.map((table) => table.rows[0].cells.slice(0, 2))).toEqual([
      ['one', '1'],
      ['two', '0'],
    ]);
    expect(tables.map((table) => table.columnDefinitions?.length)).toEqual([3, undefined]);
  });
});

function openWatch(path: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(listening.port, '127.0.0.1');
    socket.once('connect', () => {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      socket.once('readable', () => resolve(socket));
    });
  });
}
