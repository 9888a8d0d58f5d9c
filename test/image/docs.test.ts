/** The commands of docs/install.md, literally, from nothing to pods on their first nodes: how long it takes. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { findHelm } from '../peers/helm.ts';
import { ClusterWithKubelet } from './harness/cluster-with-kubelet.ts';
import { merge } from './harness/image-root.ts';

const SOURCE = dirname(dirname(import.meta.dirname));
const clock = new RealClock();

/** The shell commands that follow `<!-- run -->`. */
function commandsOf(document: string): readonly string[] {
  const text = readFileSync(join(SOURCE, 'docs', document), 'utf8');
  return [...text.matchAll(/<!-- run -->\n```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
}

describe('docs/install.md', () => {
  let folder: string;
  let cluster: ClusterWithKubelet;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'spindrift-docs-'));
    cluster = await ClusterWithKubelet.start('docs', {
      // The node pulls what the first command has made.
      get 'registry.example/spindrift:0.1.0'() {
        return merge(join(folder, 'source/dist/image'), join(folder, 'root'));
      },
    });
  }, 120_000);

  afterAll(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('leads from nothing to the first node by its commands alone', async () => {
    const commands = commandsOf('install.md');
    expect(commands.length).toBe(3);
    // A copy of what the build reads, so that the repository stays as it is.
    const source = join(folder, 'source');
    mkdirSync(source);
    const paths = ['bin', 'charts', 'examples', 'scripts', 'src', 'package.json', '.npmrc', 'LICENSE', 'README.md'];
    // The lockfile before the packages, which are linked and not copied.
    for (const path of [...paths, 'package-lock.json', 'node_modules'])
      execFileSync('cp', ['--archive', ...(path === 'node_modules' ? ['--link'] : []), join(SOURCE, path), source]);
    const tools = join(folder, 'tools');
    mkdirSync(tools);
    symlinkSync(findHelm() ?? '', join(tools, 'helm'));
    symlinkSync(inject('controlPlane').binaries.kubectl, join(tools, 'kubectl'));
    const startedAt = clock.elapsed();
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', commands.join('\n')], {
      cwd: source,
      env: { ...process.env, PATH: `${tools}:${process.env.PATH}`, KUBECONFIG: cluster.controlPlane.kubeconfig },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
    const isOver = once(shell, 'exit');
    let firstNodeAfter: number | undefined;
    while (shell.exitCode === null) {
      const { items } = await cluster.client.list(NODES);
      if (items.some(({ metadata }) => metadata.labels?.['karpenter.sh/nodepool'] !== undefined))
        firstNodeAfter ??= clock.elapsed() - startedAt;
      await Promise.race([isOver, clock.sleep(250)]);
    }
    expect(shell.exitCode, printed).toBe(0);
    expect(printed).toContain('deployment "spot-web" successfully rolled out');
    const seconds = (ms = 0): string => (ms / 1000).toFixed(0);
    process.stderr.write(
      `image: from nothing to the first node ${seconds(firstNodeAfter)} s, to 20 pods running ${seconds(clock.elapsed() - startedAt)} s\n`,
    );
  }, 300_000);
});
