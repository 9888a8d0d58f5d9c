/** Runs the commands of the documents that are marked `run: spindrift up`, against it, in the order of each page. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { up } from '../../src/app/up.ts';
import { main } from '../../src/cli/main.ts';
import { blockCommands, type DocCommand, pages } from '../docs/doc-commands.ts';
import { findKubectl } from '../kubectl/find-kubectl.ts';

const kubectl = findKubectl();
const commands = pages()
  .flatMap(blockCommands)
  .filter(({ runs }) => runs);

const folder = mkdtempSync(join(tmpdir(), 'spindrift-docs-'));
const kubeconfigPath = join(folder, 'kubeconfig');
const stop = new AbortController();
let running: Promise<void> | undefined;

beforeAll(async () => {
  await new Promise<void>((ready, fail) => {
    running = up({
      ...{ port: 0, kubeconfigPath, nodes: 3, speed: 1, quiet: false, bare: false, clusterApi: false },
      ...{ logLevel: 'error', logFormat: 'json', signal: stop.signal, out: () => ready() },
    });
    running.catch(fail);
  });
});

afterAll(async () => {
  stop.abort();
  await running;
  rmSync(folder, { recursive: true });
});

async function run({ words }: DocCommand): Promise<{ readonly code: number; readonly printed: string }> {
  const [program, ...args] = words;
  let printed = '';
  const collect = (text: string): void => {
    printed += text;
  };
  if (program === 'spindrift') {
    const code = await main([...args, '--kubeconfig', kubeconfigPath], { out: collect, err: collect });
    return { code, printed };
  }
  const env = { ...process.env, KUBECONFIG: kubeconfigPath, HOME: folder };
  const child = spawn(kubectl as string, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', collect);
  const [code] = (await once(child, 'close')) as [number];
  return { code, printed };
}

describe('commands of the documents', () => {
  it('are marked on the pages for operators', () => {
    expect(new Set(commands.map(({ page }) => page))).toEqual(new Set(['docs/operate.md', 'docs/troubleshoot.md']));
    expect(commands.every(({ words }) => words[0] === 'spindrift' || words[0] === 'kubectl')).toBe(true);
  });

  for (const command of commands) {
    it.runIf(command.words[0] === 'spindrift' || kubectl !== undefined)(
      `${command.page}: ${command.text}`,
      async () => {
        const { code, printed } = await run(command);
        expect(printed).not.toMatch(/error:|is not an option/);
        expect(code).toBe(0);
      },
    );
  }
});
