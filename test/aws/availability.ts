import { spawnSync } from 'node:child_process';
import { isBuilt } from './peers/build-once.ts';
import { MOTO } from './peers/moto.ts';

/** Why the aws ring cannot run on this machine, as one phrase; undefined when it can. */
export function whyAwsUnavailable(): string | undefined {
  if (process.platform === 'win32') return 'the aws ring does not run on Windows';
  if (isBuilt(MOTO) || spawnSync('python3', ['-m', 'venv', '--help']).status === 0) return undefined;
  return 'no python3 with venv on the PATH to run moto with';
}
