/** The embedded cluster as a program. */
import { NODE_POOLS } from '../apis/karpenter/node-pool.ts';
import { SIMULATED_NODE_CLASSES } from '../apis/spindrift/simulated-node-class.ts';
import { loadSimulatedCloud } from '../cloud/simulated/module.ts';
import { SimulatedCloud } from '../cloud/simulated/simulated-cloud.ts';
import { type RunningCluster, startEmbeddedCluster } from '../embedded/embedded-cluster-server.ts';
import { InMemoryClient } from '../embedded/in-memory-client.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger, LogLevel } from '../platform/logger.ts';
import { Metrics } from '../platform/metrics.ts';
import { createLogger } from '../platform/pino-logger.ts';
import { type Random, seededRandom } from '../platform/random.ts';
import { RealClock } from '../platform/real-clock.ts';
import { secretToken } from '../platform/secret.ts';
import { Autoscaler } from './autoscaler.ts';
import { startClusterApiCore } from './cluster-api-core.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from './default-pool.ts';
import { installDefinitions } from './install-definitions.ts';
import { startNodes } from './start-nodes.ts';

export interface UpOptions {
  readonly port: number;
  readonly kubeconfigPath: string;
  readonly nodes: number;
  readonly speed: number;
  readonly quiet: boolean;
  /** Without the autoscaler and its kinds. */
  readonly bare: boolean;
  /** With kinds of Cluster API, a minimal core for them, and machines of the simulated cloud. */
  readonly clusterApi?: boolean;
  /** A folder of published definitions of Cluster API and its providers. */
  readonly clusterApiDefinitions?: string | undefined;
  readonly logLevel: LogLevel;
  readonly logFormat: 'auto' | 'json' | 'pretty';
  readonly signal: AbortSignal;
  out(text: string): void;
}

/** Default times for a container to start, become ready and stop: long enough to be seen. */
const DELAYS = { startMs: 500, readyMs: 500, stopMs: 500 };

/** Runs until the signal aborts; rejects when the cluster cannot start or one of its parts fails. */
export async function up(options: UpOptions): Promise<void> {
  const { port, kubeconfigPath, nodes, speed, quiet, bare, signal, logLevel, logFormat, out } = options;
  const startedAt = new RealClock();
  const clock = new RealClock({ speed });
  const random = seededRandom(secretToken());
  const logger = createLogger({ level: logLevel, ...(logFormat === 'auto' ? {} : { format: logFormat }) });
  const running = await startEmbeddedCluster({
    clock,
    random,
    logger,
    token: secretToken(),
    delays: DELAYS,
    port,
    kubeconfigPath,
    nodes: startNodes(nodes),
  });
  const stop = new AbortController();
  try {
    const world = {
      clock,
      random,
      logger,
      clusterApi: options.clusterApi ?? false,
      definitions: options.clusterApiDefinitions,
    };
    const scaling = bare ? undefined : await startAutoscaler(running, world, stop.signal);
    if (!quiet && !signal.aborted) out(announcement(running, options, startedAt.elapsed()));
    await Promise.race([aborted(signal), running.stopped, ...(scaling === undefined ? [] : [scaling.work])]);
  } finally {
    stop.abort(new Error('the cluster stops'));
    try {
      await within(STOP_MS, running.stop());
    } finally {
      if (!quiet) out('\nThe cluster is gone.\n');
    }
  }
}

/** Nothing of the cluster is kept, so that a part that does not stop is not waited for longer. */
const STOP_MS = 5000;

/** Waits for work, at most this many milliseconds. */
async function within(limitMs: number, work: Promise<void>): Promise<void> {
  const done = new AbortController();
  const limit = new RealClock().sleep(limitMs, done.signal).catch(() => {});
  try {
    await Promise.race([work, limit]);
  } finally {
    done.abort();
  }
}

interface StartOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly clusterApi: boolean;
  readonly definitions: string | undefined;
}

/** Starts the autoscaler; resolves once the default pool exists, to work that ends when the signal aborts. */
async function startAutoscaler(
  { cluster }: RunningCluster,
  { clusterApi, definitions, ...world }: StartOptions,
  signal: AbortSignal,
): Promise<{ readonly work: Promise<void> }> {
  const client = new InMemoryClient(cluster.server, { fieldManager: 'spindrift' });
  const simulated = new SimulatedCloud(world);
  const powerOff = (node: string): void => void cluster.kubelets.kill(node);
  const account = DEFAULT_NODE_CLASS.metadata.name ?? '';
  const core = clusterApi
    ? await startClusterApiCore({ ...world, client, simulated, account, definitions }, signal)
    : undefined;
  const clouds = [
    await loadSimulatedCloud({ powerOff, cloud: () => simulated }),
    ...(core === undefined ? [] : [core.cloud]),
  ];
  await installDefinitions(client, clouds, signal);
  // The seed of its prices is on the node class, so that commands compute the same prices as the autoscaler.
  const { spec } = DEFAULT_NODE_CLASS;
  await client.create(SIMULATED_NODE_CLASSES, {
    ...DEFAULT_NODE_CLASS,
    spec: { ...spec, seed: world.random.split('market').suffix(10) },
  });
  await client.create(NODE_POOLS, DEFAULT_NODE_POOL);
  const autoscaler = new Autoscaler({
    ...world,
    client,
    metrics: new Metrics(),
    cluster: 'spindrift',
    batchIdleMs: 1000,
    batchMaxMs: 10_000,
    clouds,
  });
  const work = Promise.all([autoscaler.watch(signal), autoscaler.act(signal), core?.work]).then(
    () => {},
    (error: unknown) => {
      if (!signal.aborted) throw error;
    },
  );
  return { work };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

const TRIES = {
  bare: ['kubectl get nodes', 'kubectl create deployment web --image=nginx --replicas=5'],
  clusterApi: [
    'kubectl apply --filename examples/cluster-api/tour.yaml',
    'kubectl get machinedeployments,machines,awsmachines,nodes',
  ],
  usual: [
    'kubectl create deployment web --image=nginx --replicas=40',
    'kubectl set resources deployment web --requests=cpu=1,memory=2Gi',
    'kubectl get nodeclaims,nodes',
  ],
} as const;

function announcement(
  running: { url: string; kubeconfigPath: string },
  { nodes, bare, clusterApi }: Pick<UpOptions, 'nodes' | 'bare' | 'clusterApi'>,
  elapsedMs: number,
): string {
  const machines = `${nodes} simulated ${nodes === 1 ? 'node' : 'nodes'}`;
  const with_ = bare ? machines : `${machines} and an autoscaler on a simulated cloud`;
  const tries = bare ? TRIES.bare : clusterApi ? TRIES.clusterApi : TRIES.usual;
  return `A Kubernetes cluster with ${with_} is up at ${running.url} (${(elapsedMs / 1000).toFixed(1)} s).

In another terminal

  export KUBECONFIG=${running.kubeconfigPath}
${tries.map((line) => `  ${line}`).join('\n')}
  kubectl get pods --output wide --watch

docs/embedded-cluster.md says what it does and what it does not. Ctrl-C stops it; nothing is kept.
`;
}
