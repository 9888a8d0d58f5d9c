/**
 * The process behind guard.ts: reads `started <pid>`, `ended <pid>` and `farewell` until the pipe ends.
 * Only processes that their parent has not reaped are in the list when the pipe ends, so that their ids cannot have gone
 * to anyone else before that moment.
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
    // The whole process group.
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
// Retried, because a dying process may still write into it.
if (directory !== undefined) rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
