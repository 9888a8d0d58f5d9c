/** Karpenter's AWS provider as a process of its own, that can be stopped and started again. */
import { freePorts } from '../../kubernetes/harness/free-ports.ts';
import { ManagedProcess } from '../../kubernetes/harness/managed-process.ts';
import { karpenterFiles } from '../peers/karpenter.ts';
import type { Autoscaler } from './autoscaler.ts';
import type { AwsCluster } from './aws-cluster.ts';

const STOP_GRACE_MS = 20_000;

export class KarpenterProcess implements Autoscaler {
  readonly name = 'karpenter';
  readonly #cluster: AwsCluster;
  readonly #featureGates: string | undefined;
  readonly #environment: Readonly<Record<string, string>>;
  #process: ManagedProcess | undefined;

  constructor(
    cluster: AwsCluster,
    options: { featureGates?: string; environment?: Readonly<Record<string, string>> } = {},
  ) {
    this.#cluster = cluster;
    this.#featureGates = options.featureGates;
    this.#environment = options.environment ?? {};
  }

  async start(): Promise<void> {
    const { controller } = await karpenterFiles();
    const { facts, ground, account, run, clock } = this.#cluster;
    const ports = await freePorts(['metrics', 'health']);
    this.#process = ManagedProcess.start({
      name: 'karpenter',
      command: controller,
      arguments: [],
      environment: {
        ...ground.environment,
        KUBECONFIG: facts.kubeconfig,
        CLUSTER_NAME: facts.name,
        CLUSTER_ENDPOINT: facts.endpoint,
        CLUSTER_CA_BUNDLE: facts.certificateAuthority,
        INTERRUPTION_QUEUE: account.queue,
        DISABLE_LEADER_ELECTION: 'true',
        METRICS_PORT: String(ports.metrics),
        HEALTH_PROBE_PORT: String(ports.health),
        SYSTEM_NAMESPACE: 'kube-system',
        ...(this.#featureGates === undefined ? {} : { FEATURE_GATES: this.#featureGates }),
        ...this.#environment,
      },
      logFile: this.#cluster.logFile('karpenter'),
      clock,
      guard: run.guard,
      onFailure: () => undefined,
    });
  }

  /** The process, for measuring it. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Why it is not running, if it ended by itself. */
  get failure(): Error | undefined {
    return this.#process?.failure;
  }

  /** As scaling its deployment to zero does. */
  async stop(): Promise<void> {
    await this.#process?.stop(STOP_GRACE_MS);
  }
}
