/** Everything `spindrift doctor` does: connects, looks, and gives what to print. */
import { loadClouds } from '../../app/load-clouds.ts';
import { rawGet } from '../../kube/raw-get.ts';
import { asError, hasCode } from '../../platform/errors.ts';
import { SILENT_LOGGER } from '../../platform/logger.ts';
import { seededRandom } from '../../platform/random.ts';
import { secretToken } from '../../platform/secret.ts';
import type { GpuNamesSetting } from '../../state/gpu-names-source.ts';
import { type ClusterChoice, withCluster } from '../live-cluster.ts';
import { checkAdmission } from './check-admission.ts';
import { checkAutoscalers } from './check-autoscalers.ts';
import { checkClouds } from './check-clouds.ts';
import { checkCluster } from './check-cluster.ts';
import { checkDefinitions } from './check-definitions.ts';
import { checkLeader } from './check-leader.ts';
import { checkNodePools } from './check-node-pools.ts';
import { checkPermissions } from './check-permissions.ts';
import { doctorText } from './doctor-text.ts';
import { exitCodeOf, type Finding } from './finding.ts';
import type { Check, Ground } from './ground.ts';

export interface DoctorOptions extends ClusterChoice {
  readonly clouds: readonly string[];
  /** The values of all options, from which each cloud takes its own. */
  readonly cloudOptions: Readonly<Record<string, unknown>>;
  readonly clusterName: string;
  readonly disableLeaderElection: boolean;
  readonly leaderElectionName: string;
  readonly leaderElectionNamespace: string | undefined;
  readonly installDefinitions: boolean;
  readonly podDeletionCost: boolean;
  readonly readyReplicas: boolean;
  readonly metricsAuthentication: 'none' | 'token';
  readonly gpuNames: GpuNamesSetting;
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined;
  readonly strict: boolean;
  readonly output: 'text' | 'json';
}

const CHECKS: readonly Check[] = [
  checkCluster,
  checkDefinitions,
  checkPermissions,
  checkClouds,
  checkNodePools,
  checkAdmission,
  checkAutoscalers,
  checkLeader,
];

const REQUEST_MS = 10_000;

/** What to print, and the exit code. */
export async function doctor(
  options: DoctorOptions,
  signal: AbortSignal,
): Promise<{ readonly printed: string; readonly code: 0 | 2 }> {
  const { leaderElectionNamespace, leaderElectionName: name, gpuNames, output, strict } = options;
  const clouds = await loadClouds(options.clouds, options.cloudOptions);
  const findings = await withCluster(options, async ({ client, clock, connection, namespace, server }) => {
    const ground: Ground = {
      client,
      clock,
      server,
      clouds,
      signal,
      random: seededRandom(secretToken()),
      logger: SILENT_LOGGER,
      get: (path) => rawGet(connection, path, { clock, signal, timeoutMs: REQUEST_MS }),
      clusterName: options.clusterName,
      installsDefinitions: options.installDefinitions,
      ownMachines: (options.cloudOptions.clusterApiMachines ?? []) as readonly string[],
      writesDeletionCost: options.podDeletionCost,
      keepsReplicas: options.readyReplicas,
      checksTokens: options.metricsAuthentication === 'token',
      managesItself: options.cloudOptions.clusterApiKubeconfig === undefined,
      ...(options.disableLeaderElection
        ? {}
        : { lease: { namespace: leaderElectionNamespace ?? options.serviceAccount?.namespace ?? namespace, name } }),
      ...(gpuNames.includes('/') ? { gpuNames: configMapOf(gpuNames) } : {}),
      ...(options.serviceAccount && { serviceAccount: options.serviceAccount }),
    };
    return examine(ground, CHECKS);
  });
  const printed = output === 'json' ? `${JSON.stringify(findings, null, 2)}\n` : doctorText(findings);
  return { printed, code: exitCodeOf(findings, strict) };
}

/** All checks, one after the other; one that breaks is a finding itself, unless the cluster does not answer at all. */
export async function examine(ground: Ground, checks: readonly Check[] = CHECKS): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checks) {
    try {
      findings.push(...(await check(ground)));
    } catch (error) {
      ground.signal.throwIfAborted();
      if (hasCode(error, 'KUBE_UNREACHABLE') || hasCode(error, 'KUBE_UNAUTHORIZED')) throw error;
      const text = `a check failed to run: ${asError(error).message}`;
      findings.push({
        check: 'cluster',
        status: 'failed',
        text,
        todo: 'this is a bug, or the API server is in trouble',
      });
    }
  }
  return findings;
}

function configMapOf(setting: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = setting.split('/');
  return { namespace, name };
}
