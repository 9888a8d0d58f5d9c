/**
 * Karpenter itself, with its kwok provider and its regression suite, built once from its Go module. The module is built
 * in its own folder, so that exactly the versions of its go.sum go in.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { go } from '../harness/go-command.ts';
import { Guard } from '../harness/guard.ts';

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

/** The folder of the build, whether it is there yet or not. */
export function karpenterDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const cache =
    environment.SPINDRIFT_PEERS_CACHE ||
    join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'spindrift', 'peers');
  return join(cache, `karpenter-${KARPENTER_VERSION}-${process.platform}-${process.arch}-${RECIPE}`);
}

/** The binaries if they have been built; a folder of that name is always complete. */
export function findKarpenter(directory: string = karpenterDirectory()): KarpenterBinaries | undefined {
  if (!existsSync(directory)) return undefined;
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

/** Why Karpenter cannot be had on this machine, as one phrase; undefined when it can. */
export function whyNoKarpenter(): string | undefined {
  const directory = karpenterDirectory();
  if (findKarpenter(directory) !== undefined || spawnSync('go', ['version']).status === 0) return undefined;
  return `no Go on the PATH to build Karpenter with, and none built before in ${directory}`;
}

/** The binaries, built first if need be; says on standard error what it builds and how long that took. */
export async function ensureKarpenter(): Promise<KarpenterBinaries> {
  const directory = karpenterDirectory();
  const present = findKarpenter(directory);
  if (present !== undefined) return present;
  const start = performance.now();
  process.stderr.write(`karpenter: building ${KARPENTER_VERSION} and its suite with Go (minutes the first time) ... `);
  await build(directory);
  process.stderr.write(`${((performance.now() - start) / 1000).toFixed(0)} s\n`);
  const built = findKarpenter(directory);
  if (built === undefined) throw new Error(`${directory} was built and is gone again`);
  return built;
}

/** Builds beside the final folder and renames at the end, so that a build that was cut off never counts as one. */
async function build(directory: string): Promise<void> {
  mkdirSync(dirname(directory), { recursive: true });
  const unfinished = mkdtempSync(`${directory}.unfinished-`);
  const guard = new Guard({ directory: unfinished });
  try {
    const environment = { ...process.env, GOTMPDIR: unfinished };
    const inScratch = { cwd: unfinished, environment, guard };
    const download = await go(['mod', 'download', '-json', `${MODULE}@v${KARPENTER_VERSION}`], inScratch);
    const source = (JSON.parse(download) as { Dir: string }).Dir;
    const inSource = { cwd: source, environment, guard };
    const flags = ['-trimpath', '-ldflags=-s -w'];
    await go(['build', ...flags, '-o', join(unfinished, 'karpenter'), './kwok'], inSource);
    await go(['test', '-c', ...flags, '-o', join(unfinished, 'regression.test'), './test/suites/regression'], inSource);
    for (const folder of CRD_FOLDERS) copyAll(join(source, folder), join(unfinished, 'crds'), '.yaml');
    copyAll(join(source, STAGES_FOLDER), join(unfinished, 'stages'), '.yaml');
    renameSync(unfinished, directory);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  } finally {
    guard.dismiss();
  }
}

function copyAll(from: string, to: string, ending: string): void {
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from).filter((name) => name.endsWith(ending))) {
    copyFileSync(join(from, file), join(to, basename(file)));
  }
}
