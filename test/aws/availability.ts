import { spawnSync } from 'node:child_process';
import { whyUnavailable } from '../kubernetes/harness/availability.ts';
import { isBuilt } from '../peers/build-once.ts';
import { KARPENTER } from './peers/karpenter.ts';
import { MOTO } from './peers/moto.ts';
import { NODEADM_PEER } from './peers/nodeadm.ts';

/** Why the aws ring cannot run on this machine, as one phrase; undefined when it can. */
export function whyAwsUnavailable(): string | undefined {
  if (process.platform === 'win32') return 'the aws ring does not run on Windows';
  if (isBuilt(MOTO) || spawnSync('python3', ['-m', 'venv', '--help']).status === 0) return undefined;
  return 'no python3 with venv on the PATH to run moto with';
}

/** The same for the ring with a control plane. Karpenter takes ten minutes to build, which no test run starts by itself. */
export function whyAwsKubernetesUnavailable(): string | undefined {
  const unavailable = whyAwsUnavailable() ?? whyUnavailable();
  if (unavailable !== undefined) return unavailable;
  const missing = [KARPENTER, NODEADM_PEER].filter((peer) => !isBuilt(peer)).map(({ name }) => name);
  if (missing.length === 0) return undefined;
  return `${missing.join(' and ')} were never built on this machine: \`npm run aws:peers\` does it once`;
}
