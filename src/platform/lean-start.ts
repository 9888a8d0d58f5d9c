/**
 * Starts the process anew with all its code compiled already. TypeScript is translated by a WebAssembly module that takes
 * 20 MB for as long as the process lives; a process that finds everything in the compile cache never loads it.
 */
import { flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const STAGE = 'SPINDRIFT_LEAN_START';
/** A small heap: what is left over is given back soon. */
const FLAGS = [
  '--max-semi-space-size=1',
  '--v8-pool-size=1',
  '--max-old-space-size=64',
  '--disable-warning=ExperimentalWarning',
];

/**
 * Makes this process a lean one: it is replaced by itself, twice, and this call does not return until it is. `load` loads
 * all the code that will be needed. Where that cannot be done, the process goes on as it is.
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
    // Not on this system: a larger process does the same.
  }
}
