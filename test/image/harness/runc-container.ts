/** One container that runc runs, with its output in a file. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RuncOptions {
  readonly id: string;
  /** For the bundle and runc's state; the output is in `container.log` there. */
  readonly folder: string;
  readonly config: object;
  readonly onExit: (how: string) => void;
}

export class RuncContainer {
  readonly logFile: string;
  readonly #options: RuncOptions;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  private constructor(options: RuncOptions, child: ChildProcess, logFile: string) {
    this.#options = options;
    this.#child = child;
    this.logFile = logFile;
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        options.onExit(signal ?? `code ${code}`);
        resolve();
      });
    });
  }

  static start(options: RuncOptions): RuncContainer {
    const { id, folder, config } = options;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    const logFile = join(folder, 'container.log');
    const log = openSync(logFile, 'a');
    const child = spawn('runc', ['--root', join(folder, 'state'), 'run', '--bundle', folder, id], {
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    return new RuncContainer(options, child, logFile);
  }

  /** Asks the program to end, insists after the grace period, and resolves when it is gone. */
  async stop(graceMs: number): Promise<void> {
    // runc passes signals on to the program.
    this.#child.kill('SIGTERM');
    const insist = setTimeout(() => this.kill(), graceMs);
    await this.#ended;
    clearTimeout(insist);
  }

  /** Ends the program in the middle of whatever it does. */
  async kill(): Promise<void> {
    try {
      this.#runc('kill', this.#options.id, 'KILL');
    } catch {
      this.#child.kill('SIGKILL');
    }
    await this.#ended;
  }

  /** Resident memory of the program in bytes: now and at most. */
  memory(): { readonly now: number; readonly most: number } {
    const { pid } = JSON.parse(this.#runc('state', this.#options.id)) as { pid: number };
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const bytes = (field: string): number => 1024 * Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]);
    return { now: bytes('VmRSS'), most: bytes('VmHWM') };
  }

  /** Lines of `/proc/PID/status`: user, capabilities, seccomp as the kernel has them. */
  status(): ReadonlyMap<string, string> {
    const { pid } = JSON.parse(this.#runc('state', this.#options.id)) as { pid: number };
    const lines = readFileSync(`/proc/${pid}/status`, 'utf8').trim().split('\n');
    return new Map(lines.map((line) => line.split(/:\s*/) as [string, string]));
  }

  #runc(...args: string[]): string {
    const { folder } = this.#options;
    return execFileSync('runc', ['--root', join(folder, 'state'), ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  }
}
