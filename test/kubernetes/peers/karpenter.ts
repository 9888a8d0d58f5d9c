/**
 * Karpenter itself, with its kwok provider and its regression suite, built once from its Go module. The module is built
 * in its own folder, so that exactly the versions of its go.sum go in.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildOnce, isBuilt, type Peer, peerDirectory } from '../../peers/build-once.ts';

export const KARPENTER_VERSION = '1.14.0';

const MODULE = 'sigs.k8s.io/karpenter';
/** Raise it when what goes into the folder changes while the version stays. */
const RECIPE = 1;
const CRD_FOLDERS = ['pkg/apis/crds', 'kwok/apis/crds'];
/** Stages for kwok that Karpenter adds for its tests: slow deletion of pods, and pods that never become ready. */
const STAGES_FOLDER = 'hack/kwok/stages';

/** Paths of one build of Karpenter. */
export interface KarpenterBinaries {
  /** The controller with the kwok provider. */
  readonly controller: string;
  /** The regression suite, a Go test binary with Ginkgo's options. */
  readonly suite: string;
  readonly crds: readonly string[];
  readonly kwokStages: readonly string[];
}

const KARPENTER: Peer = {
  name: `karpenter-${KARPENTER_VERSION}-${process.platform}-${process.arch}-${RECIPE}`,
  async build(directory, run) {
    const environment = { GOTMPDIR: directory };
    const download = await run('go', ['mod', 'download', '-json', `${MODULE}@v${KARPENTER_VERSION}`], {
      cwd: directory,
      environment,
    });
    const source = (JSON.parse(download) as { Dir: string }).Dir;
    const go = (...args: string[]): Promise<string> => run('go', args, { cwd: source, environment });
    const flags = ['-trimpath', '-ldflags=-s -w'];
    await go('build', ...flags, '-o', join(directory, 'karpenter'), './kwok');
    await go('test', '-c', ...flags, '-o', join(directory, 'regression.test'), './test/suites/regression');
    for (const folder of CRD_FOLDERS) copyAll(join(source, folder), join(directory, 'crds'), '.yaml');
    copyAll(join(source, STAGES_FOLDER), join(directory, 'stages'), '.yaml');
  },
};

/** Why Karpenter cannot be had on this machine, as one phrase; undefined when it can. */
export function whyNoKarpenter(): string | undefined {
  if (isBuilt(KARPENTER) || spawnSync('go', ['version']).status === 0) return undefined;
  return `no Go on the PATH to build Karpenter with, and none built before in ${peerDirectory(KARPENTER.name)}`;
}

/** The binaries, built first if need be; minutes the first time. */
export async function ensureKarpenter(): Promise<KarpenterBinaries> {
  const directory = await buildOnce(KARPENTER);
  const all = (folder: string): string[] =>
    readdirSync(join(directory, folder))
      .sort()
      .map((file) => join(directory, folder, file));
  return {
    controller: join(directory, 'karpenter'),
    suite: join(directory, 'regression.test'),
    crds: all('crds'),
    kwokStages: all('stages'),
  };
}

function copyAll(from: string, to: string, ending: string): void {
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from).filter((name) => name.endsWith(ending))) {
    copyFileSync(join(from, file), join(to, basename(file)));
  }
}
