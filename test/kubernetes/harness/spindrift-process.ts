import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';

const SPINDRIFT = join(import.meta.dirname, '..', '..', '..', 'bin', 'spindrift.js');

/** What a process is told beyond the cluster. */
export interface SpindriftProcessOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `spindrift run` as a process of its own that can be killed and started again. */
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

  /** In the middle of whatever it does. */
  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    if (this.#process?.exitCode === null) await once(this.#process, 'exit');
  }
}
