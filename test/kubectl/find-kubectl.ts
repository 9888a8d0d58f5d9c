import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { buildDirectory, currentBuildPlan, findBinaries } from '../kubernetes/harness/binaries.ts';

/** The kubectls to test with: one that is named, one built beside the control plane, and the person's own. */
export function findKubectls(): string[] {
  const plan = currentBuildPlan();
  const built = findBinaries(plan, buildDirectory(plan))?.kubectl;
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'kubectl'));
  const first = onPath.find(isExecutable);
  return [process.env.SPINDRIFT_KUBECTL, built, first].filter((path) => path !== undefined && path !== '') as string[];
}

/** The first of them; undefined where there is none. */
export function findKubectl(): string | undefined {
  return findKubectls()[0];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not ours to run.
  }
}
