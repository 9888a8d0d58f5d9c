/**
 * The address and credentials of the API server. @kubernetes/client-node reads kubeconfig files, exec plugins, OIDC, token files
 * and the service account of a pod. It is imported only here and only when needed, as that takes most of a second.
 */
import { readFile } from 'node:fs/promises';
import type { AgentOptions, RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { Agent, type Dispatcher } from 'undici';
import { parse } from 'yaml';
import type { Clock } from '../platform/clock.ts';
import { asError, SpindriftError } from '../platform/errors.ts';
import type { Authorization, KubeConnection } from './kube-connection.ts';

interface PooledAuthorization extends Authorization {
  readonly calls: Dispatcher;
  readonly watches: Dispatcher;
}

export interface ConnectionOptions {
  readonly clock: Clock;
  /** A kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account of the pod we run in. */
  readonly kubeconfig?: string;
  /** The context to use; the current context of the file by default. */
  readonly context?: string;
}

/** Token and certificate files are read again this often, as in client-go. */
const FRESH_MS = 60_000;
/** The maximum number of concurrent calls; further calls wait. */
const MOST_CALLS = 32;

export class Connection implements KubeConnection {
  readonly server: string;
  /** The namespace of the context, or of the pod. */
  readonly namespace: string;
  readonly #options: ConnectionOptions;
  #config: KubeConfig;
  #current: { authorization: PooledAuthorization; fingerprint: string; until: number } | undefined;
  #pending: Promise<PooledAuthorization> | undefined;
  readonly #retired = new Set<Dispatcher>();

  private constructor(config: KubeConfig, options: ConnectionOptions) {
    const cluster = config.getCurrentCluster();
    if (cluster == null) {
      throw new SpindriftError('KUBE_CONFIG_INVALID', {
        problem: `context ${config.getCurrentContext()} of the kubeconfig has no cluster`,
      });
    }
    this.#config = config;
    this.#options = options;
    this.server = cluster.server.replace(/\/+$/, '');
    this.namespace = config.getContextObject(config.getCurrentContext())?.namespace?.trim() || 'default';
  }

  /** Reads the configuration; nothing is sent yet. */
  static async load(options: ConnectionOptions): Promise<Connection> {
    return new Connection(await loadConfig(options), options);
  }

  /** Headers and connections for a request; rotated credentials are read again from time to time. */
  authorize(): Promise<PooledAuthorization> {
    if (this.#current !== undefined && this.#options.clock.elapsed() < this.#current.until) {
      return Promise.resolve(this.#current.authorization);
    }
    this.#pending ??= this.#refresh().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** After a 401: drops cached credentials, including those of an exec plugin. */
  async renew(): Promise<void> {
    this.#config = await loadConfig(this.#options);
    this.#current = undefined;
  }

  async close(): Promise<void> {
    const dispatchers = [...this.#retired, this.#current?.authorization.calls, this.#current?.authorization.watches];
    this.#current = undefined;
    await Promise.all(dispatchers.map((dispatcher) => dispatcher?.destroy()));
  }

  async #refresh(): Promise<PooledAuthorization> {
    const until = this.#options.clock.elapsed() + FRESH_MS;
    const { headers, fingerprint, options } = await this.#credentials();
    const known = this.#current;
    if (known !== undefined && known.fingerprint === fingerprint) {
      const authorization = { ...known.authorization, headers };
      this.#current = { authorization, fingerprint, until };
      return authorization;
    }
    // Requests on the old connections may still run; these close with the client.
    if (known !== undefined) this.#retired.add(known.authorization.calls).add(known.authorization.watches);
    const authorization = {
      headers,
      calls: await this.#dispatcher(options, { connections: MOST_CALLS }),
      watches: await this.#dispatcher(options),
    };
    this.#current = { authorization, fingerprint, until };
    return authorization;
  }

  async #credentials(): Promise<{ headers: Record<string, string>; fingerprint: string; options: RequestOptions }> {
    // No credentials over plain HTTP, which is for a local `kubectl proxy`.
    const options: RequestOptions = {};
    if (this.server.startsWith('http:')) return { headers: {}, fingerprint: '', options };
    try {
      await this.#config.applyToHTTPSOptions(options);
    } catch (error) {
      throw configError(`the credentials of user ${this.#config.getCurrentUser()?.name ?? ''} cannot be loaded`, error);
    }
    const headers = { ...(options.headers as Record<string, string> | undefined) };
    if (options.auth != null) headers.Authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
    return { headers, fingerprint: [options.ca, options.cert, options.key].map(String).join(), options };
  }

  /** Without HTTP/2, which costs both sides more CPU per request, and where slow watches block each other. */
  async #dispatcher(options: RequestOptions, limits: { readonly connections?: number } = {}): Promise<Dispatcher> {
    const plain = { ...limits, allowH2: false };
    if (this.server.startsWith('http:')) return new Agent(plain);
    const made = this.#config.createDispatcherOptions(this.#config.getCurrentCluster(), options as AgentOptions);
    if (made.type === 'agent')
      return new Agent({ ...plain, connect: made.connect as Agent.Options['connect'] & object });
    let dispatcher: Dispatcher | undefined;
    // The only public access to the library's connections, which support proxies and SOCKS.
    const collector = {
      setHeaderParam: () => {},
      setDispatcher: (made: Dispatcher) => {
        dispatcher = made;
      },
    };
    await this.#config.applySecurityAuthentication(
      collector as unknown as Parameters<KubeConfig['applySecurityAuthentication']>[0],
    );
    return dispatcher ?? new Agent(plain);
  }
}

async function loadConfig(options: ConnectionOptions): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    if (options.kubeconfig !== undefined) config.loadFromFile(options.kubeconfig);
    else config.loadFromDefault();
    if (options.kubeconfig !== undefined) await keepTokenFiles(config, options.kubeconfig);
  } catch (error) {
    throw configError(`the kubeconfig ${options.kubeconfig ?? ''} cannot be read`.replace('  ', ' '), error);
  }
  if (options.context !== undefined) {
    if (config.getContextObject(options.context) === null) {
      const known = config.getContexts().map((context) => context.name);
      const problem = `the kubeconfig has no context ${options.context}; it has ${known.join(', ') || 'none'}`;
      throw new SpindriftError('KUBE_CONFIG_INVALID', { problem });
    }
    config.setCurrentContext(options.context);
  }
  const cluster = config.getCurrentCluster();
  // The placeholder of the library when it finds no configuration.
  const invented = cluster?.name === 'cluster' && cluster.server === 'http://localhost:8080';
  if (invented && options.kubeconfig === undefined) {
    const problem = 'there is no kubeconfig and this is not a pod: pass --kubeconfig or set KUBECONFIG';
    throw new SpindriftError('KUBE_CONFIG_INVALID', { problem });
  }
  return config;
}

/** The library ignores a user's `tokenFile`; its own provider for such files reads them again when they change. */
async function keepTokenFiles(config: KubeConfig, file: string): Promise<void> {
  const { users } = (parse(await readFile(file, 'utf8')) ?? {}) as { users?: KubeconfigUser[] };
  config.users = config.users.map((user) => {
    const tokenFile = users?.find((entry) => entry.name === user.name)?.user?.tokenFile;
    if (tokenFile === undefined) return user;
    return { ...user, authProvider: { name: 'tokenFile', config: { tokenFile: resolve(dirname(file), tokenFile) } } };
  });
}

interface KubeconfigUser {
  readonly name: string;
  readonly user?: { readonly tokenFile?: string };
}

function configError(what: string, cause: unknown): SpindriftError {
  return new SpindriftError('KUBE_CONFIG_INVALID', { problem: `${what}: ${asError(cause).message}` }, { cause });
}
