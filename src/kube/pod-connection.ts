/**
 * Connects a pod to its API server, with the files of its service account and Node's own HTTPS client. It takes a third of the
 * memory of the kubeconfig library, which counts on every node.
 */
import { readFile } from 'node:fs/promises';
import { Agent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import type { Clock } from '../platform/clock.ts';
import { asError, SpindriftError } from '../platform/errors.ts';
import type { Authorization, KubeConnection, KubeRequest, KubeRequests, KubeResponse } from './kube-connection.ts';

export interface PodConnectionOptions {
  readonly clock: Clock;
  /** `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`. */
  readonly host: string;
  readonly port: string;
  /** The folder with token, certificate and namespace. */
  readonly directory?: string;
}

const DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Tokens are rotated before they expire; read again this often, as in client-go. */
const FRESH_MS = 60_000;

export class PodConnection implements KubeConnection {
  readonly server: string;
  readonly namespace: string;
  readonly #options: PodConnectionOptions;
  readonly #agents: readonly [calls: Agent, watches: Agent];
  #current: { readonly authorization: Authorization; readonly until: number } | undefined;

  private constructor(options: PodConnectionOptions, ca: string, namespace: string) {
    const { host, port } = options;
    this.server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
    this.namespace = namespace;
    this.#options = options;
    this.#agents = [new Agent({ ca, keepAlive: true, maxSockets: 8 }), new Agent({ ca, keepAlive: true })];
  }

  /** Reads the files of the service account; nothing is sent yet. */
  static async load(options: PodConnectionOptions): Promise<PodConnection> {
    const { directory = DIRECTORY } = options;
    const ca = await read(join(directory, 'ca.crt'));
    const namespace = await read(join(directory, 'namespace')).catch(() => 'default');
    return new PodConnection(options, ca, namespace.trim());
  }

  async authorize(): Promise<Authorization> {
    const now = this.#options.clock.elapsed();
    if (this.#current !== undefined && now < this.#current.until) return this.#current.authorization;
    const token = (await read(join(this.#options.directory ?? DIRECTORY, 'token'))).trim();
    const [calls, watches] = this.#agents.map(requestsOver) as [KubeRequests, KubeRequests];
    const authorization = { headers: { authorization: `Bearer ${token}` }, calls, watches };
    this.#current = { authorization, until: now + FRESH_MS };
    return authorization;
  }

  async renew(): Promise<void> {
    this.#current = undefined;
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) agent.destroy();
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const problem = `the service account of this pod cannot be read: ${asError(cause).message}`;
    throw new SpindriftError('KUBE_CONFIG_INVALID', { problem }, { cause });
  }
}

function requestsOver(agent: Agent): KubeRequests {
  return { request: (options) => send(options, agent) };
}

function send({ origin, path, method, headers, body, signal }: KubeRequest, agent: Agent): Promise<KubeResponse> {
  return new Promise((resolve, reject) => {
    // Node sends the body of a DELETE without a length, and the server takes the rest for the next request.
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options = { method, headers: { ...headers, ...length }, agent, signal };
    const sent = httpsRequest(new URL(path, origin), options, (response) => {
      const text = async (): Promise<string> => {
        response.setEncoding('utf8');
        let whole = '';
        for await (const part of response) whole += part;
        return whole;
      };
      const { statusCode = 0, headers: answered } = response;
      resolve({ statusCode, headers: answered, body: Object.assign(response, { text }) });
    });
    sent.once('error', (error) => reject(signal.aborted ? signal.reason : error));
    sent.end(body);
  });
}
