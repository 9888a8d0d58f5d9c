import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';

const SPINDRIFT = join(import.meta.dirname, '..', '..', '..', 'bin', 'spindrift.js');

/** `spindrift run` as a process of its own that can be killed and started again. */
export class SpindriftProcess {
  readonly #kubeconfig: string;
  readonly #logFile: string;
  readonly #more: readonly string[];
  #process: ChildProcess | undefined;

  /** `more` are further arguments: which cloud, and its options. */
  constructor(kubeconfig: string, logFile: string, more: readonly string[] = []) {
    this.#kubeconfig = kubeconfig;
    this.#logFile = logFile;
    this.#more = more;
  }

  start(): void {
    const log = openSync(this.#logFile, 'a');
    const ports = ['--metrics-port', '0', '--health-probe-port', '0'];
    const args = [SPINDRIFT, 'run', '--kubeconfig', this.#kubeconfig, '--disable-leader-election', ...ports, ...this.#more];
    this.#process = spawn(process.execPath, args, { stdio: ['ignore', log, log] });
  }

  /** In the middle of whatever it does. */
  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    if (this.#process?.exitCode === null) await once(this.#process, 'exit');
  }
}
