import { spawn } from 'node:child_process';
import type { Guard } from './guard.ts';

/** Working directory, guard and environment of the `go` command. */
export interface GoOptions {
  readonly cwd: string;
  readonly guard: Guard;
  readonly environment: NodeJS.ProcessEnv;
}

/** Runs the `go` command and resolves with its output; errors include the end of its error output. */
export function go(args: readonly string[], { cwd, guard, environment }: GoOptions): Promise<string> {
  const child = spawn('go', args, { cwd, env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
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
      const end = complaints.trimEnd().split('\n').slice(-30).join('\n');
      reject(new Error(`go ${args[0]} ended with ${signal ?? `code ${code}`}:\n${end}`));
    });
  });
}
