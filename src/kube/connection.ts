/**
 * Where the API server is and how we prove who we are. Kubeconfig files, exec plugins, OIDC, token files and the service
 * account of a pod are read by @kubernetes/client-node, which is loaded only here and only when needed: it takes most of
 * a second to load.
 */
import { readFile } from 'node:fs/promises';
import type { AgentOptions, RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { Agent, type Dispatcher } from 'undici';
import { parse } from 'yaml';
import type { Clock } from '../platform/clock.ts';
import { asError, SpindriftError } from '../platform/errors.ts';
import type { KubeConnection } from './kube-connection.ts';

/** What one request needs. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  readonly calls: Dispatcher;
  /** Watches have connections of their own, so that a hundred of them never hold up a call. */
  readonly watches: Dispatcher;
}

export interface ConnectionOptions {
  readonly clock: Clock;
  /** A kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account of the pod we run in. */
  readonly kubeconfig?: string;
  /** A context of that file other than its current one. */
  readonly context?: string;
}

/** Tokens and certificates in files are looked at again this often; client-go does the same. */
const FRESH_MS = 60_000;
/** Calls at the same time; others wait for one of them to end. */
const MOST_CALLS = 32;

export class Connection implements KubeConnection {
  readonly server: string;
  /** The namespace of the context, or of the pod. */
  readonly namespace: string;
  readonly #options: ConnectionOptions;
  #config: KubeConfig;
  #current: { authorization: Authorization; fingerprint: string; until: number } | undefined;
  #pending: Promise<Authorization> | undefined;
  readonly #retired = new Set<Dispatcher>();

  private constructor(config: KubeConfig, options: ConnectionOptions) {
    const cluster = config.getCurrentCluster();
    if (cluster == null) {
      throw new SpindriftError('KUBE_CONFIG_INVALID', {
        problem: `the context ${config.getCurrentContext()} names no cluster`,
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

  /** Headers and connections for a request; credentials that may have been rotated are read again from time to time. */
  authorize(): Promise<Authorization> {
    if (this.#current !== undefined && this.#options.clock.elapsed() < this.#current.until) {
      return Promise.resolve(this.#current.authorization);
    }
    this.#pending ??= this.#refresh().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** The server did not know us: forget everything that was cached, including what an exec plugin said. */
  async renew(): Promise<void> {
    this.#config = await loadConfig(this.#options);
    this.#current = undefined;
  }

  async close(): Promise<void> {
    const dispatchers = [...this.#retired, this.#current?.authorization.calls, this.#current?.authorization.watches];
    this.#current = undefined;
    await Promise.all(dispatchers.map((dispatcher) => dispatcher?.destroy()));
  }

  async #refresh(): Promise<Authorization> {
    const until = this.#options.clock.elapsed() + FRESH_MS;
    const { headers, fingerprint, options } = await this.#credentials();
    const known = this.#current;
    if (known !== undefined && known.fingerprint === fingerprint) {
      const authorization = { ...known.authorization, headers };
      this.#current = { authorization, fingerprint, until };
      return authorization;
    }
    // Requests on the old connections may still be under way; they are closed with the whole.
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
    // Nothing secret goes over plain HTTP; that is for a local `kubectl proxy`, which needs none.
    const options: RequestOptions = {};
    if (this.server.startsWith('http:')) return { headers: {}, fingerprint: '', options };
    try {
      await this.#config.applyToHTTPSOptions(options);
    } catch (error) {
      throw configError(`the credentials of user ${this.#config.getCurrentUser()?.name ?? ''} cannot be had`, error);
    }
    const headers = { ...(options.headers as Record<string, string> | undefined) };
    if (options.auth != null) headers.Authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
    return { headers, fingerprint: [options.ca, options.cert, options.key].map(String).join(), options };
  }

  /** Without HTTP/2, which costs both sides more processor time for each request, and where watches that lag hold up one another. */
  async #dispatcher(options: RequestOptions, limits: { readonly connections?: number } = {}): Promise<Dispatcher> {
    const plain = { ...limits, allowH2: false };
    if (this.server.startsWith('http:')) return new Agent(plain);
    const made = this.#config.createDispatcherOptions(this.#config.getCurrentCluster(), options as AgentOptions);
    if (made.type === 'agent')
      return new Agent({ ...plain, connect: made.connect as Agent.Options['connect'] & object });
    let dispatcher: Dispatcher | undefined;
    // The only public way to the library's connections, which know about proxies and SOCKS.
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
  // What the library invents when it finds nothing at all.
  const invented = cluster?.name === 'cluster' && cluster.server === 'http://localhost:8080';
  if (invented && options.kubeconfig === undefined) {
    const problem = 'there is no kubeconfig and this is not a pod; pass --kubeconfig or set KUBECONFIG';
    throw new SpindriftError('KUBE_CONFIG_INVALID', { problem });
  }
  return config;
}

/** The library does not know a user's `tokenFile`; its own provider for such files reads them again when they change. */
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
