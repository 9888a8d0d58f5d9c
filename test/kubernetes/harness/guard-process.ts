/**
 * The process behind guard.ts: reads `started <pid>`, `ended <pid>` and `farewell` until the pipe ends. When it ends, the list has only
 * processes that their parent has not reaped, so their IDs cannot have been reused.
 */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const directory = process.argv[2];
const running = new Set<number>();

for await (const line of createInterface({ input: process.stdin })) {
  const [word, pid] = line.split(' ');
  if (word === 'farewell') process.exit(0);
  if (word === 'started') running.add(Number(pid));
  if (word === 'ended') running.delete(Number(pid));
}

for (const pid of running) {
  try {
    // Kills the whole process group.
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
// Retried, because a dying process may still write to it.
if (directory !== undefined) rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
