/**
 * Kills child processes if our process dies. A killed process (Ctrl-C in the test runner, SIGKILL, out of memory) runs no clean-up, and its
 * children live on. So a small guard process holds the other end of a pipe: if the pipe ends without a farewell, it kills the processes it
 * was told of.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';

/** Guards child processes and one temporary folder, until {@link Guard.dismiss}. */
export class Guard {
  readonly #pipe: Socket;

  /** `directory` is removed after the processes, if our process dies without a farewell. */
  constructor(options: { directory?: string } = {}) {
    const script = join(import.meta.dirname, 'guard-process.ts');
    const child = spawn(process.execPath, [script, ...(options.directory === undefined ? [] : [options.directory])], {
      // In its own session, so that Ctrl-C on the terminal does not kill it together with us.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.unref();
    this.#pipe = child.stdin as Socket;
    this.#pipe.unref();
    // If someone kills the guard, the run continues without it.
    this.#pipe.on('error', () => this.#pipe.destroy());
  }

  /** Guards a child process and its children until it exits. It must have been started detached. */
  watch(child: ChildProcess): void {
    if (child.pid === undefined) return;
    this.#tell(`started ${child.pid}`);
    child.once('exit', () => this.#tell(`ended ${child.pid}`));
  }

  /** Ends the guard; processes that still run are no longer guarded. */
  dismiss(): void {
    this.#tell('farewell');
    this.#pipe.end();
  }

  #tell(line: string): void {
    if (this.#pipe.writable) this.#pipe.write(`${line}\n`);
  }
}
