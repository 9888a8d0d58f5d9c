/**
 * Ends what we started when we cannot do it ourselves any more. A process that is killed (Ctrl-C in the test runner,
 * SIGKILL, out of memory) runs no clean-up, and its children live on. So a small process beside ours holds the other end
 * of a pipe: when the pipe ends without a word of farewell, it kills what it was told of.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';

/** Watches over child processes, and over one temporary folder, until {@link Guard.dismiss}. */
export class Guard {
  readonly #pipe: Socket;

  /** `directory` is removed after the processes, if we end without a farewell. */
  constructor(options: { directory?: string } = {}) {
    const script = join(import.meta.dirname, 'guard-process.ts');
    const child = spawn(process.execPath, [script, ...(options.directory === undefined ? [] : [options.directory])], {
      // In a session of its own, so that Ctrl-C on the terminal does not end it together with us.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.unref();
    this.#pipe = child.stdin as Socket;
    this.#pipe.unref();
    // Someone may end the guard; then the rest of the run goes unguarded, but it goes on.
    this.#pipe.on('error', () => this.#pipe.destroy());
  }

  /** Takes a child process into care until it ends, with its own children: it must have been started detached. */
  watch(child: ChildProcess): void {
    if (child.pid === undefined) return;
    this.#tell(`started ${child.pid}`);
    child.once('exit', () => this.#tell(`ended ${child.pid}`));
  }

  /** Ends the guard; processes that still run are no longer in its care. */
  dismiss(): void {
    this.#tell('farewell');
    this.#pipe.end();
  }

  #tell(line: string): void {
    if (this.#pipe.writable) this.#pipe.write(`${line}\n`);
  }
}
