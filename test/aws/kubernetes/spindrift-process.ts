/** `spindrift run --cloud aws` as a process of its own, told what Karpenter is told, by the same names. */
import { join } from 'node:path';
import { ManagedProcess } from '../../kubernetes/harness/managed-process.ts';
import type { Autoscaler } from './autoscaler.ts';
import type { AwsCluster } from './aws-cluster.ts';

const SPINDRIFT = join(import.meta.dirname, '..', '..', '..', 'bin', 'spindrift.js');
const STOP_GRACE_MS = 20_000;

export interface SpindriftProcessOptions {
  readonly arguments?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Of another account than the administrator's; asked for when it starts. */
  kubeconfig?(): string | undefined;
}

export class SpindriftProcess implements Autoscaler {
  readonly name = 'spindrift';
  readonly #cluster: AwsCluster;
  readonly #options: SpindriftProcessOptions;
  #process: ManagedProcess | undefined;

  constructor(cluster: AwsCluster, options: SpindriftProcessOptions = {}) {
    this.#cluster = cluster;
    this.#options = options;
  }

  async start(): Promise<void> {
    const { facts, ground, account, run, clock } = this.#cluster;
    this.#process = ManagedProcess.start({
      name: 'spindrift',
      command: process.execPath,
      arguments: [SPINDRIFT, 'run', '--cloud', 'aws', '--install-definitions', ...(this.#options.arguments ?? [])],
      environment: {
        ...ground.environment,
        KUBECONFIG: this.#options.kubeconfig?.() ?? facts.kubeconfig,
        CLUSTER_NAME: facts.name,
        CLUSTER_ENDPOINT: facts.endpoint,
        CLUSTER_CA_BUNDLE: facts.certificateAuthority,
        INTERRUPTION_QUEUE: account.queue,
        DISABLE_LEADER_ELECTION: 'true',
        METRICS_PORT: '0',
        HEALTH_PROBE_PORT: '0',
        ...this.#options.environment,
      },
      logFile: this.#cluster.logFile('spindrift'),
      clock,
      guard: run.guard,
      onFailure: () => undefined,
    });
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get failure(): Error | undefined {
    return this.#process?.failure;
  }

  async stop(): Promise<void> {
    await this.#process?.stop(STOP_GRACE_MS);
  }

  /** In the middle of whatever it does. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }
}
