/**
 * Runs test rings one after the other and says how long each took: `node scripts/test.ts unit component [-- vitest args]`.
 * A ring that runs no test at all fails. The kubernetes, machines and models rings are skipped, and say why, where no control plane can be
 * started, unless SPINDRIFT_REQUIRE_KUBERNETES=1; so is the aws ring where there is no Python, and the aws-kubernetes
 * ring where Karpenter was never built, unless SPINDRIFT_REQUIRE_AWS=1 and SPINDRIFT_REQUIRE_AWS_KUBERNETES=1; and the image
 * ring where containers cannot be built and run, unless SPINDRIFT_REQUIRE_IMAGE=1.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { whyAwsKubernetesUnavailable, whyAwsUnavailable } from '../test/aws/availability.ts';
import { whyUnavailable } from '../test/kubernetes/harness/availability.ts';
import { findClusterApiCore } from '../test/machines/harness/cluster-api-binary.ts';
import { whyContainersUnavailable } from '../test/peers/container-tools.ts';
import { findModelPeers } from '../test/models/harness/model-peers.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [rings, passed] = split(process.argv.slice(2));
const lines: string[] = [];
let failed = false;
let interrupted = false;

for (const ring of rings) {
  if (interrupted) break;
  const start = performance.now();
  const result = await run(ring);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  lines.push(`  ${ring.padEnd(12)} ${seconds.padStart(6)} s  ${result}`);
  failed ||= result.startsWith('FAILED');
}

console.log(`\nTest rings\n${lines.join('\n')}`);
process.exitCode = failed ? 1 : 0;

async function run(ring: string): Promise<string> {
  const needs = {
    kubernetes: whyUnavailable,
    machines: whyMachinesUnavailable,
    image: () => whyUnavailable() ?? whyContainersUnavailable(),
    models: whyModelsUnavailable,
    aws: whyAwsUnavailable,
    'aws-kubernetes': whyAwsKubernetesUnavailable,
  }[ring];
  const unavailable = needs?.();
  if (unavailable !== undefined) {
    const variable = `SPINDRIFT_REQUIRE_${ring.toUpperCase().replace('-', '_')}`;
    return process.env[variable] === '1' ? `FAILED: ${variable}=1, but ${unavailable}` : `skipped: ${unavailable}`;
  }
  const vitest = spawn(
    process.execPath,
    [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', ring, ...passed],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  // Who ends us means the tests too, this ring and those to come.
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const forward = (signal: NodeJS.Signals): void => {
    interrupted = true;
    vitest.kill(signal);
  };
  for (const signal of signals) process.on(signal, forward);
  const [status] = await once(vitest, 'exit');
  for (const signal of signals) process.off(signal, forward);
  return status === 0 ? 'passed' : 'FAILED';
}

/** Why the machines ring cannot run here. */
function whyMachinesUnavailable(): string | undefined {
  const unavailable = whyUnavailable();
  if (unavailable !== undefined) return unavailable;
  const canBuild = spawnSync('go', ['version']).status === 0;
  return canBuild || findClusterApiCore() !== undefined
    ? undefined
    : 'Cluster API is not built, and there is no Go to build it';
}

/** Why the models ring cannot run here. */
function whyModelsUnavailable(): string | undefined {
  const unavailable = whyUnavailable();
  if (unavailable !== undefined) return unavailable;
  const canBuild = spawnSync('go', ['version']).status === 0;
  return canBuild || findModelPeers() !== undefined
    ? undefined
    : 'llmaz and LeaderWorkerSet are not built, and there is no Go to build them';
}

function split(args: string[]): [string[], string[]] {
  const firstOption = args.findIndex((arg) => arg.startsWith('-') || arg.includes('/'));
  return firstOption < 0 ? [args, []] : [args.slice(0, firstOption), args.slice(firstOption)];
}
