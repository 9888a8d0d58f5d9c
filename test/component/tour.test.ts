/** Runs the tour of the README, command by command, and compares what it prints with what the README says it does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { up } from '../../src/app/up.ts';
import { findKubectl } from '../kubectl/find-kubectl.ts';

interface Step {
  readonly command: string;
  /** Lines as the README shows them; `…` stands for anything. */
  readonly shown: readonly string[];
}

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const steps = [...README.matchAll(/<!-- tour -->\n```console\n([\s\S]*?)```/g)].flatMap(([, block]) => parse(block!));
const kubectl = findKubectl();

function parse(block: string): Step[] {
  return block
    .split(/^\$ /m)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [command = '', ...shown] = part.trim().split('\n');
      return { command, shown };
    });
}

/** White space is not compared: columns are as wide as their widest value. */
function pattern(shown: readonly string[]): RegExp {
  const words = shown.join('\n').trim().split(/\s+/);
  const text = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '[\\s\\S]*?'));
  return new RegExp(`^\\s*${text.join('\\s*')}\\s*$`);
}

/** Runs kubectl and gives what a person sees: both streams, in the order they were written. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ output: string; code: number }> {
  const child = spawn(kubectl as string, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number];
  return { output, code };
}

describe('the tour of the README', () => {
  const folder = mkdtempSync(join(tmpdir(), 'spindrift-tour-'));
  const kubeconfigPath = join(folder, 'kubeconfig');
  const stop = new AbortController();
  let running: Promise<void> | undefined;

  beforeAll(async () => {
    await new Promise<void>((ready, fail) => {
      // What `npm start` runs, on a port of its own.
      running = up({
        port: 0,
        kubeconfigPath,
        nodes: 3,
        speed: 1,
        quiet: false,
        bare: false,
        logLevel: 'error',
        logFormat: 'json',
        signal: stop.signal,
        out: () => ready(),
      });
      running.catch(fail);
    });
  });

  afterAll(async () => {
    stop.abort();
    await running;
    rmSync(folder, { recursive: true });
  });

  it('has steps', () => {
    expect(steps.length).toBeGreaterThan(8);
    expect(steps.every((step) => step.command.startsWith('kubectl '))).toBe(true);
  });

  for (const { command, shown } of steps) {
    it.runIf(kubectl !== undefined)(command, async () => {
      const env = { ...process.env, KUBECONFIG: kubeconfigPath, HOME: folder };
      const step = async (): Promise<void> => {
        const { output, code } = await run(command.split(' ').slice(1), env);
        expect(output).toMatch(pattern(shown));
        expect(code).toBe(0);
      };
      // Who does not see it yet looks again; what changes something is done once.
      if (command.startsWith('kubectl get ')) await vi.waitFor(step, { timeout: 30_000, interval: 500 });
      else await step();
    });
  }
});
