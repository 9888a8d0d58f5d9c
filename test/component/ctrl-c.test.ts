/** Ctrl-C on a cluster: whenever it comes, and however often, the goodbye is said and the kubeconfig is gone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spindrift-ctrl-c-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function up() {
  const kubeconfig = join(folder, 'kubeconfig');
  const command = [join(root, 'bin', 'spindrift.js'), 'up', '--port', '0', '--kubeconfig', kubeconfig];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return { child, kubeconfig, said: () => said, ended: once(child, 'close') as Promise<[number | null]> };
}

const started = { timeout: 30_000, interval: 20 };

describe('Ctrl-C', () => {
  it('that npm passes on as well counts once', async () => {
    const { child, kubeconfig, said, ended } = up();
    await vi.waitFor(() => expect(said()).toContain('is up at'), started);
    expect(existsSync(kubeconfig)).toBe(true);
    child.kill('SIGINT');
    await new Promise((resolve) => setImmediate(resolve));
    child.kill('SIGINT');
    expect((await ended)[0]).toBe(0);
    expect(said()).toMatch(/The cluster is gone\.\n$/);
    expect(existsSync(kubeconfig)).toBe(false);
  });

  it('while the cluster starts ends it as well', async () => {
    const { child, kubeconfig, said, ended } = up();
    await vi.waitFor(() => expect(existsSync(kubeconfig)).toBe(true), started);
    child.kill('SIGINT');
    await ended;
    expect(said()).toMatch(/The cluster is gone\.\n$/);
    expect(existsSync(kubeconfig)).toBe(false);
  });
});
