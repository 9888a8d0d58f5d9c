import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';

/** Runs the kubectl built with the server. */
export class Kubectl {
  readonly #command: string;
  readonly #kubeconfig: string;

  constructor(command: string, kubeconfig: string) {
    this.#command = command;
    this.#kubeconfig = kubeconfig;
  }

  /** Resolves with its output; rejects with its error output. */
  run(args: readonly string[], input?: string): Promise<string> {
    // Its discovery cache belongs to the run, not to the home directory.
    const own = [`--kubeconfig=${this.#kubeconfig}`, `--cache-dir=${join(dirname(this.#kubeconfig), 'kubectl-cache')}`];
    return new Promise((resolve, reject) => {
      const child = execFile(this.#command, [...own, ...args], { maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || error.message}`, { cause: error }));
      });
      // If kubectl fails before it reads its input, its exit code is reported, not the broken pipe.
      child.stdin?.on('error', () => child.stdin?.destroy());
      child.stdin?.end(input);
    });
  }

  /** An object or a list, as JSON. */
  async get<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.run(['get', ...args, '--output=json'])) as T;
  }

  /** Applies objects, all in one call. */
  async apply(...objects: readonly object[]): Promise<void> {
    await this.run(['apply', '--filename=-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  }
}
