/** Processes of the `spindrift` command that a benchmark measures, in a folder of their own; all of it goes when they end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEPLOYMENTS } from '../src/apis/kubernetes/workloads.ts';
import { connect } from '../src/kube/connect.ts';
import { RealClock } from '../src/platform/real-clock.ts';
import { Guard } from '../test/kubernetes/harness/guard.ts';
import { ManagedProcess } from '../test/kubernetes/harness/managed-process.ts';
import { PRODUCT_FLAGS } from './in-its-own-process.ts';

const SPINDRIFT = join(import.meta.dirname, '..', 'bin', 'spindrift.js');
const STOP_MS = 10_000;
const MOST_TRIES = 100;
const TRY_MS = 200;

export class SpindriftProcesses {
  readonly clock = new RealClock();
  readonly #directory: string;
  readonly #guard: Guard;
  readonly #started: ManagedProcess[] = [];

  constructor(name: string) {
    this.#directory = mkdtempSync(join(tmpdir(), `spindrift-${name}-`));
    this.#guard = new Guard({ directory: this.#directory });
  }

  /** Where `spindrift up` is to write it. */
  get kubeconfig(): string {
    return join(this.#directory, 'kubeconfig');
  }

  /** Starts the command with these arguments. */
  start(name: string, args: readonly string[], environment: Record<string, string> = {}): ManagedProcess {
    const started = ManagedProcess.start({
      name,
      command: process.execPath,
      arguments: [...PRODUCT_FLAGS, SPINDRIFT, ...args],
      environment,
      logFile: join(this.#directory, `${name}.log`),
      clock: this.clock,
      guard: this.#guard,
      onFailure: () => {},
    });
    this.#started.push(started);
    return started;
  }

  /** A client of the cluster, once it answers. */
  async connected() {
    const { clock, kubeconfig } = this;
    for (let tries = 0; ; tries++) {
      try {
        const connected = await connect({ clock, kubeconfig, requestsPerSecond: 1000, requestBurst: 1000 });
        await connected.client.list(DEPLOYMENTS, { limit: 1 });
        return connected;
      } catch (error) {
        if (tries > MOST_TRIES) throw error;
        await clock.sleep(TRY_MS);
      }
    }
  }

  async end(): Promise<void> {
    for (const one of this.#started) await one.stop(STOP_MS);
    this.#guard.dismiss();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
