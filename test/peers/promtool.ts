/**
 * promtool, which checks our alerts and metrics. Debian's is part of its Prometheus package and takes seconds (`npm run peers:prometheus`).
 * `npm run peers:promtool` builds the newest in minutes, which is preferred.
 */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildOnce, isBuilt, type Peer, peerDirectory } from './build-once.ts';
import { findInPrometheus } from './prometheus.ts';

const MODULE = 'github.com/prometheus/prometheus';
const VERSION = '0.315.0';

export const PROMTOOL: Peer = {
  name: `promtool-${VERSION}`,
  async build(directory, run) {
    const environment = { GOTMPDIR: directory, GOFLAGS: '-trimpath' };
    const go = (...args: string[]): Promise<string> =>
      run('nice', ['-n', '10', 'go', ...args], { cwd: directory, environment });
    // In its own module: Prometheus replaces modules, which `go install` rejects.
    await go('mod', 'init', 'peer');
    await go('mod', 'edit', '-require', `${MODULE}@v${VERSION}`);
    // Without it, two modules provide the same package.
    await go('mod', 'edit', '-replace', 'cloud.google.com/go=cloud.google.com/go@v0.123.0');
    writeFileSync(
      join(directory, 'tools.go'),
      `//go:build tools\n\npackage peer\n\nimport _ "${MODULE}/cmd/promtool"\n`,
    );
    await go('mod', 'tidy');
    await go('build', '-ldflags=-s -w', '-o', 'promtool', `${MODULE}/cmd/promtool`);
    for (const file of ['tools.go', 'go.mod', 'go.sum']) rmSync(join(directory, file));
  },
};

/** The newest program available; undefined if there is none. */
export function findPromtool(): string | undefined {
  return isBuilt(PROMTOOL) ? join(peerDirectory(PROMTOOL.name), 'promtool') : findInPrometheus('promtool');
}

/** Runs it; returns both output streams together. */
export function promtool(args: readonly string[], input = ''): { readonly code: number | null; readonly out: string } {
  const { status, stdout, stderr } = spawnSync(findPromtool() ?? 'promtool', args, { encoding: 'utf8', input });
  return { code: status, out: `${stdout}${stderr}` };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildOnce(PROMTOOL);
