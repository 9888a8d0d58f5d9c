/** A cluster with one autoscaler in it, on which specs run one after the other. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../src/platform/clock.ts';
import { freePorts } from '../harness/free-ports.ts';
import type { Guard } from '../harness/guard.ts';
import { Kubectl } from '../harness/kubectl.ts';
import { ManagedProcess } from '../harness/managed-process.ts';
import { untilReady } from '../harness/readiness.ts';
import type { Contender } from './contender.ts';

const READY_MS = 90_000;

export const GROUNDS = ['real', 'embedded'] as const;
export type GroundName = (typeof GROUNDS)[number];

/** The cluster alone. */
export interface GroundCluster {
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** Starts the cluster of one ground; its files go into the folder. */
export type StartCluster = (directory: string) => Promise<GroundCluster>;

export interface GroundOptions {
  readonly startCluster: StartCluster;
  readonly contender: Contender;
  readonly kubectl: string;
  /** For logs and data. It is the caller's. */
  readonly directory: string;
  readonly guard: Guard;
  readonly clock: Clock;
}

/** Some specs give the autoscaler five seconds for its first answer, which must not be its start. */
async function readiness(process: ManagedProcess, name: string, port: number, clock: Clock): Promise<void> {
  const url = `http://127.0.0.1:${port}/readyz`;
  try {
    await untilReady({ name, url, authority: '', process, clock, deadlineMs: READY_MS });
  } catch (error) {
    await process.kill();
    throw error;
  }
}

/** A ground that is up. */
export class Ground {
  readonly kubeconfig: string;
  readonly #cluster: GroundCluster;
  readonly #autoscaler: ManagedProcess;

  private constructor(cluster: GroundCluster, autoscaler: ManagedProcess) {
    this.kubeconfig = cluster.kubeconfig;
    this.#cluster = cluster;
    this.#autoscaler = autoscaler;
  }

  static async start(options: GroundOptions): Promise<Ground> {
    const { startCluster, contender, directory, guard, clock } = options;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const cluster = await startCluster(directory);
    try {
      await contender.install(new Kubectl(options.kubectl, cluster.kubeconfig));
      const { metricsPort, healthPort } = await freePorts(['metricsPort', 'healthPort']);
      const program = contender.program({ kubeconfig: cluster.kubeconfig, metricsPort, healthPort });
      const { name } = contender;
      const logFile = join(directory, `${name}.log`);
      const autoscaler = ManagedProcess.start({ name, ...program, logFile, clock, guard, onFailure: () => {} });
      await readiness(autoscaler, name, healthPort, clock);
      return new Ground(cluster, autoscaler);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Why the ground cannot be used any more: its autoscaler has ended by itself. */
  get failure(): Error | undefined {
    return this.#autoscaler.failure;
  }

  async stop(): Promise<void> {
    await this.#autoscaler.kill();
    await this.#cluster.stop();
  }
}
