// Runs `npm ci` when node_modules is missing or older than the lockfile, so that `npm start` and `npm test` work on a
// fresh clone. Plain JavaScript, because it must run on whatever Node is there before ours is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// npm writes this file last, so that an install that was cut off counts as none.
const installed = join(root, 'node_modules', '.package-lock.json');
const reason = whyInstall();

if (reason !== undefined) {
  console.error(`spindrift: ${reason}; running npm ci (about half a minute, once)`);
  const { status, error } = spawnSync('npm', ['ci', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error(`spindrift: npm ci failed${error === undefined ? '' : `: ${error.message}`}`);
    process.exit(1);
  }
}

function whyInstall() {
  if (!existsSync(installed)) return 'node_modules is missing';
  if (!existsSync(join(root, 'node_modules', '.bin', 'node'))) return 'node_modules has no Node 24';
  if (statSync(installed).mtimeMs < statSync(join(root, 'package-lock.json')).mtimeMs) {
    return 'package-lock.json is newer than node_modules';
  }
  return undefined;
}
