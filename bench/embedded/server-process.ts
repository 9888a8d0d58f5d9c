import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PRODUCT_FLAGS } from '../in-its-own-process.ts';

const SPINDRIFT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'spindrift.js');

/** `spindrift up` in a process of its own, as a person has it. */
export class ServerProcess {
  readonly kubeconfig: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(child: ChildProcess, folder: string) {
    this.#process = child;
    this.#folder = folder;
    this.kubeconfig = join(folder, 'kubeconfig');
  }

  /** Resolves when the cluster has said that it is up. */
  static async start(): Promise<ServerProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'spindrift-bench-'));
    const args = [SPINDRIFT, 'up', '--port', '0', '--nodes', '0', '--kubeconfig', join(folder, 'kubeconfig')];
    const child = spawn(process.execPath, [...PRODUCT_FLAGS, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(createInterface({ input: child.stdout }), 'line');
    return new ServerProcess(child, folder);
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    await once(this.#process, 'exit');
    rmSync(this.#folder, { recursive: true });
  }
}
