/** Builds the binaries of the control plane with Go, from the module proxy, unless they exist. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Binaries, buildDirectory, currentBuildPlan, findBinaries, GO_MODULE } from './binaries.ts';
import type { BuildPlan } from './build-plan.ts';
import { go } from './go-command.ts';
import { Guard } from './guard.ts';

/** The binaries, built if necessary; reports on standard error what it builds and how long that took. */
export async function ensureBinaries(): Promise<Binaries> {
  const plan = currentBuildPlan();
  const directory = buildDirectory(plan);
  const present = findBinaries(plan, directory);
  if (present !== undefined) return present;

  const start = performance.now();
  process.stderr.write(`kubernetes: building ${plan.key} with Go (minutes the first time) ... `);
  await build(plan, directory);
  process.stderr.write(`${((performance.now() - start) / 1000).toFixed(0)} s\n`);

  const built = findBinaries(plan, directory);
  if (built === undefined) throw new Error(`${directory} was built and is gone again`);
  return built;
}

/**
 * Builds in a temporary folder and renames it at the end. So an interrupted build never counts, and two concurrent builds do not disturb
 * each other: the second to finish is discarded.
 */
async function build(plan: BuildPlan, directory: string): Promise<void> {
  mkdirSync(dirname(directory), { recursive: true });
  const unfinished = mkdtempSync(`${directory}.unfinished-`);
  const guard = new Guard({ directory: unfinished });
  try {
    const kubernetesArguments = plan.kubernetesArguments.map((argument) => argument.replace('{out}', unfinished));
    // Go's temporary files too, so that they are removed with the folder.
    const environment = { ...process.env, GOBIN: unfinished, GOTMPDIR: unfinished };
    await go(kubernetesArguments, { cwd: GO_MODULE, environment, guard });
    await go(plan.kwokArguments, { cwd: unfinished, environment, guard });
    const download = await go(['mod', 'download', '-json', plan.kwokModule], { cwd: unfinished, environment, guard });
    const kwokSource = (JSON.parse(download) as { Dir: string }).Dir;
    mkdirSync(join(unfinished, 'stages'));
    for (const stage of plan.kwokStages) {
      copyFileSync(join(kwokSource, 'kustomize', 'stage', stage), join(unfinished, 'stages', basename(stage)));
    }
    renameSync(unfinished, directory);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  } finally {
    guard.dismiss();
  }
}
