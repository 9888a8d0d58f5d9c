// Runs `npm ci` when node_modules is missing or older than the lockfile, so that `npm start` and `npm test` work on a
// fresh clone. Plain JavaScript, because it must run on whatever Node is there before ours is installed.
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// npm writes this file last, so that an install that was cut off counts as none.
const installed = join(root, 'node_modules', '.package-lock.json');
const WINDOWS = process.platform === 'win32';
// How long npm may take to tidy up when it is interrupted.
const PATIENCE_MS = 3000;
const INTERRUPTED = 130;
const reason = whyInstall();

if (reason !== undefined) {
  console.error(`spindrift: ${reason}; running npm ci (about half a minute, once)`);
  process.exitCode = await install();
}

// The exit code.
function install() {
  return new Promise((resolve) => {
    // In a group of its own, so that all it starts can be ended with it: an install that goes on in the background would
    // work on the same files as the next one.
    const child = spawn('npm', ['ci', '--loglevel=error'], {
      cwd: root,
      stdio: ['ignore', 2, 2],
      shell: WINDOWS,
      detached: !WINDOWS,
    });
    let interrupted = false;
    const interrupt = () => {
      if (interrupted) return;
      interrupted = true;
      end(child, 'SIGTERM');
      setTimeout(() => end(child, 'SIGKILL'), PATIENCE_MS).unref();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, interrupt);
    child.once('error', (error) => {
      console.error(`spindrift: npm ci failed: ${error.message}`);
      resolve(1);
    });
    child.once('close', (code) => {
      if (interrupted) {
        // Whatever it had started and has not waited for.
        end(child, 'SIGKILL');
        console.error('spindrift: the install was interrupted; the next start begins it anew');
        resolve(INTERRUPTED);
        return;
      }
      if (code !== 0) console.error('spindrift: npm ci failed');
      resolve(code === 0 ? 0 : 1);
    });
  });
}

function end(child, signal) {
  try {
    if (WINDOWS) child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // It has ended already.
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
