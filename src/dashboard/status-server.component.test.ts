import { afterEach, describe, expect, it } from 'vitest';
import { Metrics } from '../platform/metrics.ts';
import { StatusServer, type StatusServerOptions } from './status-server.ts';

const servers: StatusServer[] = [];

async function start(options: Partial<StatusServerOptions> = {}): Promise<StatusServer> {
  const server = new StatusServer({ host: '127.0.0.1', port: 0, ...options });
  await server.listen();
  servers.push(server);
  return server;
}

async function get(server: StatusServer, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  return { status: response.status, text: await response.text() };
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

describe('StatusServer', () => {
  it('is healthy while it answers, and ready when nothing is missing', async () => {
    let missing: string | undefined = 'caches are not full';
    const server = await start({ notReady: () => missing });
    expect(await get(server, '/healthz')).toEqual({ status: 200, text: 'ok\n' });
    expect(await get(server, '/readyz')).toEqual({ status: 503, text: 'caches are not full\n' });
    missing = undefined;
    expect(await get(server, '/readyz')).toEqual({ status: 200, text: 'ok\n' });
  });

  it('shows metrics where it has them', async () => {
    const metrics = new Metrics();
    metrics.counter({ name: 'things_total', help: 'Things' }).add({}, 3);
    expect((await get(await start({ metrics }), '/metrics')).text).toContain('things_total 3');
    expect((await get(await start(), '/metrics')).status).toBe(404);
  });

  it('says in a sentence when its port is taken', async () => {
    const { port } = await start();
    await expect(start({ port })).rejects.toThrow(`cannot listen on 127.0.0.1:${port} for probes and metrics`);
  });
});
