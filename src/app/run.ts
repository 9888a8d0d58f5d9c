/** The autoscaler as a program: leader election, probes, metrics, and a clean shutdown. */
import { hostname } from 'node:os';
import { parseNamedConditions } from '../cloud/node-conditions/named-conditions.ts';
import { BearerAccess } from '../dashboard/bearer-access.ts';
import { StatusServer } from '../dashboard/status-server.ts';
import { connect } from '../kube/connect.ts';
import { LeaderElection } from '../kube/leader-election.ts';
import { ServerHealth } from '../kube/server-health.ts';
import { type LogLevel, LogThreshold } from '../platform/logger.ts';
import { Metrics } from '../platform/metrics.ts';
import { createLogger } from '../platform/pino-logger.ts';
import { seededRandom } from '../platform/random.ts';
import { RealClock } from '../platform/real-clock.ts';
import { secretToken } from '../platform/secret.ts';
import { version } from '../platform/version.ts';
import type { GpuNamesSetting } from '../state/gpu-names-source.ts';
import { Autoscaler } from './autoscaler.ts';
import { awaitCluster } from './await-cluster.ts';
import { installDefinitions } from './install-definitions.ts';
import { LiveSettings } from './live-settings.ts';
import { loadClouds } from './load-clouds.ts';
import { type MetricsServing, metricsServing } from './metrics-serving.ts';

export interface RunOptions extends MetricsServing {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly clusterName: string;
  readonly healthProbePort: number;
  readonly disableLeaderElection: boolean;
  readonly leaderElectionName: string;
  readonly leaderElectionNamespace: string | undefined;
  readonly installDefinitions: boolean;
  /** Names of the clouds to enable. */
  readonly clouds: readonly string[];
  /** The values of all options; each cloud picks its own. */
  readonly cloudOptions: Readonly<Record<string, unknown>>;
  /** Node conditions to treat as interruption notices, as `Type` or `Type=kind`. */
  readonly interruptionConditions: readonly string[];
  /** The source of GPU names. */
  readonly gpuNames: GpuNamesSetting;
  /** A file of settings that are applied while the program runs. */
  readonly settings?: string | undefined;
  /** The least that consolidation must save per evicted pod, as a share of the average price of a pod. */
  readonly movePrice: number;
  /** Whether to write pod-deletion-cost on pods of ReplicaSets. */
  readonly podDeletionCost: boolean;
  /** Whether to keep the replicas ready that annotations ask for. */
  readonly readyReplicas: boolean;
  readonly batchIdleMs: number;
  readonly batchMaxMs: number;
  readonly kubeClientQps: number;
  readonly kubeClientBurst: number;
  readonly logLevel: LogLevel;
  readonly logFormat: 'auto' | 'json' | 'pretty';
  /** Receives log lines; standard error when absent. */
  readonly log?: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Runs until the signal aborts; rejects when it cannot start. */
export async function run(options: RunOptions): Promise<void> {
  const { signal, logLevel, logFormat, kubeconfig, context, host } = options;
  const clock = new RealClock();
  const random = seededRandom(secretToken());
  const metrics = new Metrics();
  metrics.observeProcess();
  const threshold = new LogThreshold(logLevel);
  const logger = createLogger({
    level: threshold,
    ...(logFormat === 'auto' ? {} : { format: logFormat }),
    ...(options.log && { write: options.log }),
  });
  const live = new LiveSettings({
    ...{ clock, logger, file: options.settings },
    start: { logLevel, batchIdleMs: options.batchIdleMs, batchMaxMs: options.batchMaxMs },
    changed: (values) => {
      threshold.level = values.logLevel;
    },
  });
  await live.look();
  const health = new ServerHealth({ clock, logger });
  // Reports invalid options before the first request to the cluster.
  const serving = metricsServing(options, clock);
  const clouds = await loadClouds(options.clouds, options.cloudOptions);
  const { client, connection } = await connect({
    clock,
    logger,
    metrics,
    health,
    requestsPerSecond: options.kubeClientQps,
    requestBurst: options.kubeClientBurst,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const { clusterName: cluster } = options;
  const autoscaler = new Autoscaler({
    client,
    clock,
    random,
    logger,
    metrics,
    cluster,
    get batchIdleMs() {
      return live.values.batchIdleMs;
    },
    get batchMaxMs() {
      return live.values.batchMaxMs;
    },
    clouds,
    gpuNames: options.gpuNames,
    movePrice: options.movePrice,
    podDeletionCost: options.podDeletionCost,
    readyReplicas: options.readyReplicas,
    dangerousConditions: parseNamedConditions(options.interruptionConditions),
  });
  let missing: string | undefined = 'the cluster was not checked yet';
  const notReady = (): string | undefined =>
    health.problem ?? missing ?? (autoscaler.synced ? undefined : 'the caches are not synced yet');
  const bearers = serving.needsToken ? new BearerAccess({ client, clock }) : undefined;
  const servers = [
    new StatusServer({
      ...{ ...serving, metrics },
      ...(bearers && { access: (header, path) => bearers.decide(header, path) }),
    }),
    new StatusServer({ host, port: options.healthProbePort, notReady }),
  ];
  try {
    for (const server of servers) await server.listen();
    const { server } = connection;
    logger.info('starting', { version: version(), server, cluster });
    const tell = (what: string | undefined): void => {
      missing = what;
    };
    const install = (stop: AbortSignal): Promise<void> => installDefinitions(client, clouds, stop);
    const prepare = options.installDefinitions ? { prepare: install } : {};
    const { kinds } = autoscaler;
    await untilAborted(signal, awaitCluster({ client, clock, logger, server, kinds, tell, ...prepare }, signal));
    if (signal.aborted) return;
    logger.info('the cluster serves all kinds and grants the rights to watch them', { server });
    const act = (leading: AbortSignal): Promise<void> => untilAborted(leading, autoscaler.act(leading));
    const elected = (): Promise<void> => {
      const lease = {
        namespace: options.leaderElectionNamespace ?? connection.namespace,
        name: options.leaderElectionName,
      };
      const identity = `${hostname()}_${random.uuid()}`;
      return new LeaderElection({ client, clock, random, logger, metrics, identity, lease }).run(signal, act);
    };
    // Without an election there is no leader metric either: alerts read a 0 as a replica that does not act.
    const lead = options.disableLeaderElection ? act(signal) : elected();
    await Promise.all([untilAborted(signal, autoscaler.watch(signal)), live.run(signal), lead]);
  } finally {
    for (const server of servers) await server.close().catch(() => {});
    await connection.close();
  }
}

/** Work that rejects because it was aborted has not failed. */
async function untilAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
