/** Builds the binaries of the control plane with Go, from the module proxy, unless they are there already. */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Binaries, buildDirectory, currentBuildPlan, findBinaries, GO_MODULE } from './binaries.ts';
import type { BuildPlan } from './build-plan.ts';
import type { Guard } from './guard.ts';

const UNFINISHED = '.unfinished-';
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

/** The binaries, built first if need be; says on standard error what it builds and how long that took. */
export async function ensureBinaries(guard: Guard): Promise<Binaries> {
  const plan = currentBuildPlan();
  const directory = buildDirectory(plan);
  const present = findBinaries(plan, directory);
  if (present !== undefined) return present;

  const start = performance.now();
  process.stderr.write(`kubernetes: building ${plan.key} with Go (minutes the first time) ... `);
  await build(plan, directory, guard);
  process.stderr.write(`${((performance.now() - start) / 1000).toFixed(0)} s\n`);

  const built = findBinaries(plan, directory);
  if (built === undefined) throw new Error(`${directory} was built and is gone again`);
  return built;
}

/**
 * Builds beside the final folder and renames at the end, so that a build that was cut off never counts as one, and two
 * runs that build at the same time do not see each other's halves; the second to finish throws its own away.
 */
async function build(plan: BuildPlan, directory: string, guard: Guard): Promise<void> {
  removeAbandoned(dirname(directory));
  const unfinished = `${directory}${UNFINISHED}${process.pid}`;
  mkdirSync(join(unfinished, 'stages'), { recursive: true });
  try {
    const kubernetesArguments = plan.kubernetesArguments.map((argument) => argument.replace('{out}', unfinished));
    await go(kubernetesArguments, { cwd: GO_MODULE, guard });
    await go(plan.kwokArguments, { cwd: unfinished, guard, environment: { GOBIN: unfinished } });
    const download = await go(['mod', 'download', '-json', plan.kwokModule], { cwd: unfinished, guard });
    const kwokSource = (JSON.parse(download) as { Dir: string }).Dir;
    for (const stage of plan.kwokStages) {
      copyFileSync(join(kwokSource, 'kustomize', 'stage', stage), join(unfinished, 'stages', basename(stage)));
    }
    renameSync(unfinished, directory);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
}

/** A build that was killed leaves half a gigabyte behind; nobody builds for a day. */
function removeAbandoned(cache: string): void {
  if (!existsSync(cache)) return;
  for (const name of readdirSync(cache).filter((entry) => entry.includes(UNFINISHED))) {
    const path = join(cache, name);
    if (Date.now() - statSync(path).mtimeMs > ABANDONED_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
}

interface GoOptions {
  readonly cwd: string;
  readonly guard: Guard;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs the `go` command and resolves with what it printed; a failure carries the end of what it complained about. */
function go(args: readonly string[], { cwd, guard, environment }: GoOptions): Promise<string> {
  const child = spawn('go', args, { cwd, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
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
