/** The install on the first start, with an npm that only pretends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const script = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'scripts', 'install-if-needed.js');
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'spindrift-install-'));
  for (const folder of ['scripts', 'bin']) mkdirSync(join(root, folder));
  copyFileSync(script, join(root, 'scripts', 'install-if-needed.js'));
  writeFileSync(join(root, 'package.json'), '{"type": "module"}');
  writeFileSync(join(root, 'package-lock.json'), '{}');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Starts the script with an npm that does this. */
function start(npm: string) {
  const file = join(root, 'bin', 'npm');
  writeFileSync(file, `#!/bin/sh\n${npm}\n`);
  chmodSync(file, 0o755);
  const child = spawn(process.execPath, [join(root, 'scripts', 'install-if-needed.js')], {
    env: { ...process.env, PATH: `${join(root, 'bin')}:${process.env.PATH}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  return { child, said: () => said, ended };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the install on the first start', () => {
  it('fails when npm does, and says so', async () => {
    const { ended, said } = start('exit 7');
    expect((await ended)[0]).toBe(1);
    expect(said()).toContain('spindrift: npm ci failed');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'leaves nothing running that could disturb the next one when it is ended by %s',
    async (signal) => {
      // As npm does, it goes on after a signal, and has programs of its own under way.
      const { child, ended, said } = start(
        `trap '' INT TERM; sleep 100 & echo "$$ $!" > ${join(root, 'pids')}; wait; sleep 100`,
      );
      await vi.waitFor(() => expect(existsSync(join(root, 'pids'))).toBe(true), { timeout: 10_000 });
      const pids = await vi.waitFor(() => {
        const numbers = readFileSync(join(root, 'pids'), 'utf8').trim().split(' ').map(Number);
        expect(numbers).toHaveLength(2);
        return numbers;
      });
      expect(pids.map(isAlive)).toEqual([true, true]);
      child.kill(signal);
      child.kill(signal);
      expect((await ended)[0]).toBe(130);
      expect(said()).toContain('the install was interrupted; the next start begins it anew');
      await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]), { timeout: 5000 });
    },
  );
});
