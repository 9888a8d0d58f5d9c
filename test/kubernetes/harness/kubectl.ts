import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';

/** Runs the kubectl that was built beside the server. */
export class Kubectl {
  readonly #command: string;
  readonly #kubeconfig: string;

  constructor(command: string, kubeconfig: string) {
    this.#command = command;
    this.#kubeconfig = kubeconfig;
  }

  /** What it printed; it rejects with what it complained about when it fails. */
  run(args: readonly string[], input?: string): Promise<string> {
    // Its cache of what the server can do goes with the run, not into the home directory.
    const own = [`--kubeconfig=${this.#kubeconfig}`, `--cache-dir=${join(dirname(this.#kubeconfig), 'kubectl-cache')}`];
    return new Promise((resolve, reject) => {
      const child = execFile(this.#command, [...own, ...args], { maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || error.message}`, { cause: error }));
      });
      // A kubectl that fails before it reads its input is reported by its exit, not by the broken pipe.
      child.stdin?.on('error', () => child.stdin?.destroy());
      child.stdin?.end(input);
    });
  }

  /** An object or a list, as kubectl prints it in JSON. */
  async get<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.run(['get', ...args, '--output=json'])) as T;
  }

  /** Applies objects, all in one call. */
  async apply(...objects: readonly object[]): Promise<void> {
    await this.run(['apply', '--filename=-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  }
}
