import { spawnSync } from 'node:child_process';
import { buildDirectory, currentBuildPlan, findBinaries } from './binaries.ts';

/** Why no control plane can run on this machine, as one phrase; undefined if one can. */
export function whyUnavailable(): string | undefined {
  if (process.platform === 'win32') return 'a Kubernetes control plane does not run on Windows';
  const plan = currentBuildPlan();
  const directory = buildDirectory(plan);
  if (findBinaries(plan, directory) !== undefined) return undefined;
  if (spawnSync('go', ['version']).status === 0) return undefined;
  return `no Go on the PATH to build the control plane with, and none built before in ${directory}`;
}
