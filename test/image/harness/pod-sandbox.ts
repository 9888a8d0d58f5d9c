/**
 * The network of a pod: a namespace with a loopback of its own, so that two replicas can listen on the same ports. Its only
 * ways out are the API server, and this machine's way to the ports of the pod.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';

const RELAY = join(import.meta.dirname, 'relay.ts');

export class PodSandbox {
  readonly #folder: string;
  readonly #inside: ChildProcess;
  readonly #outside: ChildProcess;

  private constructor(folder: string, inside: ChildProcess, outside: ChildProcess) {
    this.#folder = folder;
    this.#inside = inside;
    this.#outside = outside;
  }

  /** Makes a network in which the API server is on the same port of loopback as here. */
  static async create(folder: string, apiServerPort: number, podPorts: readonly number[]): Promise<PodSandbox> {
    mkdirSync(folder, { recursive: true });
    const gate = join(folder, 'api.sock');
    const outside = spawn(process.execPath, [RELAY, `${gate}=${apiServerPort}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(outside.stdout as NodeJS.ReadableStream, 'data');
    const ways = [`${apiServerPort}=${gate}`, ...podPorts.map((port) => `${join(folder, `${port}.sock`)}=${port}`)];
    const script = 'ip link set lo up && exec "$@"';
    const inside = spawn('unshare', ['--net', 'sh', '-c', script, 'sh', process.execPath, RELAY, ...ways], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(inside.stdout as NodeJS.ReadableStream, 'data');
    return new PodSandbox(folder, inside, outside);
  }

  /** The namespace as a container runtime takes it. */
  get network(): string {
    return `/proc/${this.#inside.pid}/ns/net`;
  }

  /** What a port of the pod answers; undefined when nothing listens there. */
  get(
    port: number,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; text: string } | undefined> {
    const socketPath = join(this.#folder, `${port}.sock`);
    return new Promise((resolve) => {
      const asked = request({ socketPath, path, headers, timeout: 5000 }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', () => resolve(undefined));
      });
      asked.on('error', () => resolve(undefined));
      asked.on('timeout', () => asked.destroy());
      asked.end();
    });
  }

  close(): void {
    this.#inside.kill('SIGKILL');
    this.#outside.kill('SIGKILL');
  }
}
