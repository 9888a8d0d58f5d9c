/**
 * Restarts the process with all its code in the compile cache. The WebAssembly module that strips TypeScript takes 20 MB for
 * as long as the process lives; a process that finds everything in the cache never loads it.
 */
import { flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const STAGE = 'SPINDRIFT_LEAN_START';
/** V8 flags for a small heap. */
const FLAGS = [
  '--max-semi-space-size=1',
  '--v8-pool-size=1',
  '--max-old-space-size=64',
  '--disable-warning=ExperimentalWarning',
];

/**
 * Replaces this process by itself, twice: first to fill the compile cache, then to run from it. Returns in the last process.
 * `load` imports all code that will be needed. Where the system cannot replace a process, this one goes on.
 */
export async function leanStart(load: () => Promise<unknown>): Promise<void> {
  const { execve } = process as { execve?: (file: string, args: string[], env: NodeJS.ProcessEnv) => void };
  const stage = process.env[STAGE] ?? 'cold';
  if (execve === undefined || stage === 'lean') return;
  if (stage === 'filling') {
    await load();
    flushCompileCache();
  }
  const cache = process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'spindrift-compile-cache');
  const next = stage === 'cold' ? 'filling' : 'lean';
  const environment = { ...process.env, NODE_COMPILE_CACHE: cache, [STAGE]: next };
  const flags = process.execArgv.filter((flag) => !FLAGS.some((own) => own.split('=')[0] === flag.split('=')[0]));
  const args = [process.execPath, ...flags, ...FLAGS, ...process.argv.slice(1)];
  try {
    execve(process.execPath, args, environment);
  } catch {
    // Not possible on this system: go on with a larger process.
  }
}
