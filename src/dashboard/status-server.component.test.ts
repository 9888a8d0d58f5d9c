import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CertificateAuthority } from '../platform/certificates.ts';
import { Metrics } from '../platform/metrics.ts';
import { RealClock } from '../platform/real-clock.ts';
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

  it('shows metrics to those with a token only, where it is told to, and health to all', async () => {
    const verdicts = { 'Bearer good': 'allowed', 'Bearer poor': 'forbidden' } as const;
    const access: StatusServerOptions['access'] = async (header) =>
      verdicts[header as keyof typeof verdicts] ?? 'unknown';
    const { port } = await start({ metrics: new Metrics(), access });
    const status = async (path: string, authorization?: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { headers: authorization ? { authorization } : {} })).status;
    expect(await status('/metrics')).toBe(401);
    expect(await status('/metrics', 'Bearer poor')).toBe(403);
    expect(await status('/metrics', 'Bearer good')).toBe(200);
    expect(await status('/healthz')).toBe(200);
  });

  it('shows profiles where it is told to: functions by time and by memory', async () => {
    expect((await get(await start({ metrics: new Metrics() }), '/debug/profile')).status).toBe(404);
    const server = await start({ profiling: new RealClock() });
    const profile = JSON.parse((await get(server, '/debug/profile?seconds=0.1')).text) as { nodes: unknown[] };
    expect(profile.nodes.length).toBeGreaterThan(0);
    expect(JSON.parse((await get(server, '/debug/heap?seconds=0.1')).text)).toHaveProperty('head');
    expect((await get(server, '/debug/profile?seconds=1000')).status).toBe(400);
  });

  it('serves HTTPS with a certificate, and with the next one once that is there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'spindrift-status-'));
    const tls = { certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
    const authority = await CertificateAuthority.create('status');
    const renew = async (commonName: string, at: number): Promise<void> => {
      const { certificate, key } = await authority.issue({ commonName, hosts: ['127.0.0.1'] });
      for (const [file, text] of [
        [tls.certificate, certificate],
        [tls.key, key],
      ] as const) {
        writeFileSync(file, text);
        utimesSync(file, at, at);
      }
    };
    await renew('first', 1);
    const { port } = await start({ tls, metrics: new Metrics() });
    const nameOf = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path: '/metrics', ca: authority.keyPair.certificate, agent: false };
        const asked = request(options, (response) => {
          const { subject } = (response.socket as import('node:tls').TLSSocket).getPeerCertificate();
          response.resume().on('end', () => resolve(String(subject.CN)));
        });
        asked.on('error', reject).end();
      });
    expect(await nameOf()).toBe('first');
    await renew('second', 2);
    await nameOf();
    expect(await nameOf()).toBe('second');
    rmSync(folder, { recursive: true });
  });

  it('says in a sentence which file is missing', async () => {
    const tls = { certificate: '/nowhere/tls.crt', key: '/nowhere/tls.key' };
    await expect(start({ tls })).rejects.toThrow(/for probes and metrics: ENOENT.*\/nowhere\/tls.crt/);
  });

  it('says in a sentence when its port is taken', async () => {
    const { port } = await start();
    await expect(start({ port })).rejects.toThrow(`cannot listen on 127.0.0.1:${port} for probes and metrics`);
  });
});
