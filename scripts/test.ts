/**
 * Runs test rings one after the other and says how long each took: `node scripts/test.ts unit component [-- vitest args]`.
 * A ring that runs no test at all fails.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [rings, passed] = split(process.argv.slice(2));
const lines: string[] = [];
let failed = false;

for (const ring of rings) {
  const start = performance.now();
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', ring, ...passed],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  lines.push(`  ${ring.padEnd(12)} ${seconds.padStart(6)} s  ${status === 0 ? 'passed' : 'FAILED'}`);
  failed ||= status !== 0;
}

console.log(`\nTest rings\n${lines.join('\n')}`);
process.exitCode = failed ? 1 : 0;

function split(args: string[]): [string[], string[]] {
  const firstOption = args.findIndex((arg) => arg.startsWith('-') || arg.includes('/'));
  return firstOption < 0 ? [args, []] : [args.slice(0, firstOption), args.slice(firstOption)];
}
