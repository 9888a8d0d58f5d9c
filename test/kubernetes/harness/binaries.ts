/**
 * Locates the binaries of the control plane: outside the repository, one folder per build, so that only the first run on a machine has to
 * build them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { type BuildPlan, buildPlan } from './build-plan.ts';

/** The Go module that pins every version. */
export const GO_MODULE = join(import.meta.dirname, '..', 'control-plane');

/** Paths of the commands and files of one build; plain data, so that test processes can receive it. */
export interface Binaries {
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly scheduler: string;
  readonly kubectl: string;
  readonly kwok: string;
  readonly kwokStages: readonly string[];
}

/** The plan for the Go module of this repository on this machine. */
export function currentBuildPlan(): BuildPlan {
  const read = (file: string): string => readFileSync(join(GO_MODULE, file), 'utf8');
  return buildPlan({
    goMod: read('go.mod'),
    otherFiles: ['go.sum', 'tools.go', 'etcd/main.go'].map(read),
    platform: process.platform,
    architecture: process.arch,
  });
}

/** The folder of one build, whether it exists yet or not. */
export function buildDirectory(plan: BuildPlan, environment: NodeJS.ProcessEnv = process.env): string {
  const cache =
    environment.SPINDRIFT_CONTROL_PLANE_CACHE ||
    join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'spindrift', 'control-plane');
  return join(cache, plan.key);
}

/** The binaries of a build; undefined if it does not exist. An existing folder is always complete. */
export function findBinaries(plan: BuildPlan, directory: string): Binaries | undefined {
  if (!existsSync(directory)) return undefined;
  return {
    etcd: join(directory, 'etcd'),
    apiServer: join(directory, 'kube-apiserver'),
    controllerManager: join(directory, 'kube-controller-manager'),
    scheduler: join(directory, 'kube-scheduler'),
    kubectl: join(directory, 'kubectl'),
    kwok: join(directory, 'kwok'),
    kwokStages: plan.kwokStages.map((stage) => join(directory, 'stages', basename(stage))),
  };
}
