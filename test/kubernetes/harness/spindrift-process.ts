import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';

const SPINDRIFT = join(import.meta.dirname, '..', '..', '..', 'bin', 'spindrift.js');

/** Settings of a process besides the cluster. */
export interface SpindriftProcessOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `spindrift run` as a separate process that can be killed and restarted. */
export class SpindriftProcess {
  readonly #kubeconfig: string;
  readonly #logFile: string;
  readonly #options: SpindriftProcessOptions;
  #process: ChildProcess | undefined;

  constructor(kubeconfig: string, logFile: string, options: SpindriftProcessOptions = {}) {
    this.#kubeconfig = kubeconfig;
    this.#logFile = logFile;
    this.#options = options;
  }

  start(): void {
    const log = openSync(this.#logFile, 'a');
    const ports = ['--metrics-port', '0', '--health-probe-port', '0'];
    const args = [SPINDRIFT, 'run', '--kubeconfig', this.#kubeconfig, '--disable-leader-election', ...ports];
    const { args: more = [], env = {} } = this.#options;
    this.#process = spawn(process.execPath, [...args, ...more], {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
    });
  }

  /** Kills it at any point. */
  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    if (this.#process?.exitCode === null) await once(this.#process, 'exit');
  }
}
