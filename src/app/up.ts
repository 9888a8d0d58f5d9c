/** The embedded cluster as a program: started, announced, and stopped when it is asked to. */
import { startEmbeddedCluster } from '../embedded/embedded-cluster-server.ts';
import type { LogLevel } from '../platform/logger.ts';
import { createLogger } from '../platform/pino-logger.ts';
import { seededRandom } from '../platform/random.ts';
import { RealClock } from '../platform/real-clock.ts';
import { secretToken } from '../platform/secret.ts';

export interface UpOptions {
  readonly port: number;
  readonly kubeconfigPath: string;
  readonly nodes: number;
  readonly speed: number;
  readonly quiet: boolean;
  readonly logLevel: LogLevel;
  readonly logFormat: 'auto' | 'json' | 'pretty';
  readonly signal: AbortSignal;
  out(text: string): void;
}

/** What a container takes to start, to answer and to stop where a pod does not say so itself: enough to be seen. */
const DELAYS = { startMs: 500, readyMs: 500, stopMs: 500 };

/** Runs until the signal aborts; rejects when the cluster cannot start or one of its parts fails. */
export async function up(options: UpOptions): Promise<void> {
  const { port, kubeconfigPath, nodes, speed, quiet, signal, logLevel, logFormat, out } = options;
  const startedAt = new RealClock();
  const running = await startEmbeddedCluster({
    clock: new RealClock({ speed }),
    random: seededRandom(secretToken()),
    logger: createLogger({ level: logLevel, ...(logFormat === 'auto' ? {} : { format: logFormat }) }),
    token: secretToken(),
    delays: DELAYS,
    port,
    kubeconfigPath,
    nodes,
  });
  if (!quiet) out(announcement(running, nodes, startedAt.elapsed()));
  const asked = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    await Promise.race([asked, running.stopped]);
  } finally {
    await running.stop();
    if (!quiet) out('\nThe cluster is gone.\n');
  }
}

function announcement(running: { url: string; kubeconfigPath: string }, nodes: number, elapsedMs: number): string {
  return `A Kubernetes cluster with ${nodes} simulated ${nodes === 1 ? 'node' : 'nodes'} is up at ${running.url} (${(elapsedMs / 1000).toFixed(1)} s).

In another terminal

  export KUBECONFIG=${running.kubeconfigPath}
  kubectl get nodes
  kubectl create deployment web --image=nginx --replicas=5
  kubectl get pods --output wide --watch

docs/embedded-cluster.md says what it does and what it does not. Ctrl-C stops it; nothing is kept.
`;
}
