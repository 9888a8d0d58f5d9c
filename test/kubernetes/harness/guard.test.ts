import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';

/** A process that starts another one under a guard, prints its ID, and stays alive. */
const starter = (directory: string): string => `
  import { spawn } from 'node:child_process';
  import { Guard } from ${JSON.stringify(join(import.meta.dirname, 'guard.ts'))};
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  new Guard({ directory: ${JSON.stringify(directory)} }).watch(child);
  console.log(child.pid);
  setInterval(() => {}, 1000);
`;

it('ends what a process started, and removes its folder, when the process is killed without warning', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'spindrift-guard-'));
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', starter(directory)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
  const pid = Number(line);
  expect(isRunning(pid)).toBe(true);
  parent.kill('SIGKILL');
  await expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false);
  await expect.poll(() => existsSync(directory), { timeout: 30_000 }).toBe(false);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
