/** A child process: started, watched, its output in a file, and expected to run until it is stopped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Clock } from '../../../src/platform/clock.ts';
import type { Guard } from './guard.ts';

const TAIL_LINES = 20;

export interface ProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
  /** Variables in addition to our own environment. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly clock: Clock;
  readonly guard: Guard;
  /** Called when it exits unexpectedly. */
  readonly onFailure: (error: Error) => void;
}

/** A running program. It starts with {@link ManagedProcess.start}. */
export class ManagedProcess {
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  readonly #options: ProcessOptions;
  readonly #child: ChildProcess;
  #asked = false;
  #how: string | undefined;

  private constructor(options: ProcessOptions, child: ChildProcess) {
    this.#options = options;
    this.#child = child;
    this.ended = new Promise((resolve) => {
      const end = (how: string): void => {
        this.#how = how;
        if (this.failure !== undefined) options.onFailure(this.failure);
        resolve();
      };
      child.once('error', (error) => end(`could not be started: ${error.message}`));
      child.once('exit', (code, signal) => end(`ended with ${signal ?? `code ${code}`}`));
    });
  }

  static start(options: ProcessOptions): ManagedProcess {
    // Appended, so that the log covers restarts.
    const log = openSync(options.logFile, 'a');
    try {
      const child = spawn(options.command, options.arguments, {
        // In its own session: Ctrl-C on the terminal is for us, and we stop the programs in the right order.
        detached: true,
        env: { ...process.env, ...options.environment },
        stdio: ['ignore', log, log],
      });
      options.guard.watch(child);
      return new ManagedProcess(options, child);
    } finally {
      closeSync(log);
    }
  }

  /** The process ID; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  get running(): boolean {
    return this.#how === undefined;
  }

  /** The error, with the end of the log, if the process exited unexpectedly. */
  get failure(): Error | undefined {
    if (this.#how === undefined || this.#asked) return undefined;
    const { name, logFile } = this.#options;
    const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES);
    return new Error(`${name} ${this.#how}; its log ${logFile} ends with\n${lines.join('\n')}`);
  }

  /** Stops it gracefully, kills it after the grace period, and resolves when it is gone. */
  async stop(graceMs: number): Promise<void> {
    this.#signal('SIGTERM');
    const timer = this.#options.clock.setTimer(graceMs, () => this.#signal('SIGKILL'));
    await this.ended;
    timer.cancel();
  }

  /** Kills it, and resolves when it is gone. */
  async kill(): Promise<void> {
    this.#signal('SIGKILL');
    await this.ended;
  }

  #signal(signal: NodeJS.Signals): void {
    if (!this.running) return;
    this.#asked = true;
    this.#child.kill(signal);
  }
}
