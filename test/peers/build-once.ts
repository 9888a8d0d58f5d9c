/** Third-party programs that tests check against, built once per machine and kept outside the repository. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Guard } from '../kubernetes/harness/guard.ts';

export interface Peer {
  /** Names the folder: the program, its version, and anything else that distinguishes builds. */
  readonly name: string;
  /** Fills an empty folder. The folder is renamed afterwards, so its files must not contain its path. */
  build(directory: string, run: Run): Promise<void>;
}

/** Runs a command and resolves with its output; errors include the end of its error output. */
export type Run = (command: string, args: readonly string[], options?: RunOptions) => Promise<string>;

export interface RunOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The folder of a peer, whether it exists yet or not. */
export function peerDirectory(name: string, environment: NodeJS.ProcessEnv = process.env): string {
  const cache =
    environment.SPINDRIFT_PEERS_CACHE ||
    join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'spindrift', 'peers');
  return join(cache, name);
}

/** Whether a peer has been built on this machine; an existing folder is always complete. */
export function isBuilt({ name }: Peer): boolean {
  return existsSync(peerDirectory(name));
}

/**
 * The folder of a peer, built if necessary. It is built in a temporary folder and renamed at the end: an interrupted build never counts,
 * and of two concurrent builds the second to finish is discarded.
 */
export async function buildOnce(peer: Peer): Promise<string> {
  const directory = peerDirectory(peer.name);
  if (existsSync(directory)) return directory;
  const start = performance.now();
  process.stderr.write(`peers: building ${peer.name} (once per machine) ... `);
  mkdirSync(join(directory, '..'), { recursive: true });
  const unfinished = mkdtempSync(`${directory}.unfinished-`);
  const guard = new Guard({ directory: unfinished });
  try {
    await peer.build(unfinished, (command, args, options) => run(command, args, guard, options));
    renameSync(unfinished, directory);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  } finally {
    guard.dismiss();
  }
  process.stderr.write(`${((performance.now() - start) / 1000).toFixed(0)} s\n`);
  return directory;
}

function run(command: string, args: readonly string[], guard: Guard, options: RunOptions = {}): Promise<string> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.environment },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  guard.watch(child);
  let output = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(output);
      const end = `${output}\n${complaints}`.trim().split('\n').slice(-30).join('\n');
      reject(new Error(`${command} ${args.join(' ')} ended with ${signal ?? `code ${code}`}:\n${end}`));
    });
  });
}
