/**
 * Sends one request to the API server: credentials, rate limit, time limit, retries. Retries are limited, and a request that
 * may have been executed is repeated only when it is idempotent.
 */
import type { Status } from '../apis/kubernetes/status.ts';
import type { Clock } from '../platform/clock.ts';
import { asError, hasCode, SpindriftError } from '../platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { RequestOptions, RequestPriority } from './client.ts';
import { type HttpObserver, httpMetrics } from './http-metrics.ts';
import type { KubeConnection, KubeResponse } from './kube-connection.ts';
import { KubeError } from './kube-error.ts';
import { RateLimiter } from './rate-limiter.ts';
import type { ServerHealth } from './server-health.ts';

export interface TransportOptions {
  readonly connection: KubeConnection;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  readonly userAgent?: string;
  /** Average rate per second, and burst; Karpenter's defaults. */
  readonly requestsPerSecond?: number;
  readonly requestBurst?: number;
  /** The time limit of a whole call with its retries. */
  readonly timeoutMs?: number;
  readonly maxRetries?: number;
  /** Learns which requests were answered. */
  readonly health?: ServerHealth;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
}

/** Errors before the connection was established: the server has not seen the request. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** Status codes of gateways and load balancers without a reachable API server. */
const NOBODY_THERE = new Set([502, 503, 504]);
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 10_000;
/** The time limit for opening a watch. */
const OPEN_WATCH_MS = 30_000;

export class HttpTransport {
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #limiter: RateLimiter;
  readonly #observer: HttpObserver;
  readonly #warned = new Set<string>();

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#logger = (options.logger ?? SILENT_LOGGER).with({ logger: 'kube' });
    const { requestsPerSecond = 200, requestBurst = 300, clock } = options;
    this.#limiter = new RateLimiter({ clock, perSecond: requestsPerSecond, burst: requestBurst });
    this.#observer = httpMetrics(options.metrics, new URL(options.connection.server).host);
  }

  /** Sends a request and returns the parsed answer; throws a KubeError when the server refuses. */
  async send<T>(request: HttpRequest, options: RequestOptions = {}): Promise<T> {
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 30_000;
    const limit = this.#clock.deadline(timeoutMs, options.signal);
    try {
      return await this.#withRetries(request, options.priority ?? 'normal', limit.signal, async (response) =>
        this.#parse<T>(request, await response.body.text()),
      );
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw this.describe(request, error);
    } finally {
      limit.cancel();
    }
  }

  /** Opens a watch and returns its body. The signal closes it. */
  async open(request: HttpRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const limit = this.#clock.deadline(OPEN_WATCH_MS, signal);
    // The time limit covers only the opening; then only the caller ends the watch.
    const close = new AbortController();
    const stop = (): void => close.abort(limit.signal.reason);
    limit.signal.addEventListener('abort', stop, { once: true });
    try {
      const body = await this.#withRetries(request, 'low', close.signal, async (response) => response.body, 'watches');
      limit.signal.removeEventListener('abort', stop);
      signal.addEventListener('abort', () => close.abort(signal.reason), { once: true });
      if (signal.aborted) close.abort(signal.reason);
      return body;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.describe(request, error);
    } finally {
      limit.cancel();
    }
  }

  async #withRetries<T>(
    request: HttpRequest,
    priority: RequestPriority,
    signal: AbortSignal,
    read: (response: KubeResponse) => Promise<T>,
    via: 'calls' | 'watches' = 'calls',
  ): Promise<T> {
    const { maxRetries = 10 } = this.#options;
    let renewed = false;
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#limiter.acquire(priority, signal);
        return await read(await this.#once(request, signal, via));
      } catch (error) {
        if (hasCode(error, 'KUBE_UNAUTHORIZED') && !renewed) {
          renewed = true;
          await this.#options.connection.renew();
          continue;
        }
        const delayMs = attempt < maxRetries && !signal.aborted ? retryDelay(request, error, attempt) : undefined;
        if (delayMs === undefined) throw error;
        this.#logger.debug('retrying a request', {
          method: request.method,
          path: request.path,
          attempt,
          delayMs,
          error,
        });
        await this.#clock.sleep(delayMs, signal);
      }
    }
  }

  async #once(request: HttpRequest, signal: AbortSignal, via: 'calls' | 'watches'): Promise<KubeResponse> {
    const { connection, userAgent = 'spindrift' } = this.#options;
    const authorization = await connection.authorize();
    const startedAt = this.#clock.elapsed();
    let code = 'error';
    try {
      const response = await authorization[via].request({
        origin: new URL(connection.server).origin,
        // A server URL can have a path, as with multi-cluster proxies.
        path: new URL(connection.server).pathname.replace(/\/$/, '') + request.path,
        method: request.method,
        headers: {
          ...authorization.headers,
          accept: 'application/json',
          'user-agent': userAgent,
          ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
        },
        ...(request.body === undefined ? {} : { body: request.body }),
        signal,
        // Our own limits cover the whole call, and a quiet watch is not broken.
        headersTimeout: 0,
        bodyTimeout: 0,
        // Otherwise each DELETE with a body closes the connection, and the next request needs a new handshake.
        reset: false,
      });
      code = String(response.statusCode);
      this.#showWarnings(response);
      if (response.statusCode >= 300) throw new KubeError(await readStatus(response));
      this.#options.health?.answered();
      return response;
    } catch (error) {
      this.#judge(error, signal);
      throw error;
    } finally {
      this.#observer.answered(request.method, code, (this.#clock.elapsed() - startedAt) / 1000);
    }
  }

  /** A refusal counts as an answer, unless it comes from a proxy without a server; an aborted call counts as neither. */
  #judge(error: unknown, signal: AbortSignal): void {
    const { health, connection } = this.#options;
    const isAnswer = error instanceof KubeError && !NOBODY_THERE.has(error.status.code ?? 0);
    if (isAnswer) health?.answered();
    else if (!signal.aborted || hasCode(signal.reason, 'DEADLINE_EXCEEDED')) health?.failed(connection.server, error);
  }

  #parse<T>(request: HttpRequest, text: string): T {
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      const { method, path } = request;
      const problem = `${text.slice(0, 80)}…`;
      throw new SpindriftError(
        'KUBE_PROTOCOL',
        { method, path, server: this.#options.connection.server, problem },
        { cause },
      );
    }
  }

  /** Converts every error to a SpindriftError that names the request. */
  describe(request: HttpRequest, error: unknown): unknown {
    if (error instanceof SpindriftError && error.code !== 'DEADLINE_EXCEEDED') return error;
    const { method, path } = request;
    const problem = asError(error).message;
    const { server } = this.#options.connection;
    return new SpindriftError('KUBE_UNREACHABLE', { method, path, server, problem }, { cause: error });
  }

  /** Logs each warning of the server once. */
  #showWarnings(response: KubeResponse): void {
    const header = response.headers.warning;
    for (const warning of header === undefined ? [] : [header].flat()) {
      if (this.#warned.has(warning) || this.#warned.size > 1000) continue;
      this.#warned.add(warning);
      this.#logger.warn('warning of the API server', { warning });
    }
  }
}

/** The wait before a retry; undefined when the request must not be repeated. */
function retryDelay(request: HttpRequest, error: unknown, attempt: number): number | undefined {
  const backOff = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt);
  if (error instanceof KubeError) {
    // 429 means that nothing was executed. A 5xx is retried only with a Retry-After header.
    const asked =
      error.code === 'KUBE_THROTTLED' || (error.code === 'KUBE_SERVER_ERROR' && error.retryAfterMs !== undefined);
    return asked ? (error.retryAfterMs ?? backOff) : undefined;
  }
  if (error instanceof SpindriftError) return undefined;
  const code = (error as { code?: string }).code ?? (asError(error).cause as { code?: string } | undefined)?.code ?? '';
  return request.method === 'GET' || NOT_SENT.has(code) ? backOff : undefined;
}

/** The Status of a refusal; built here where the server, or a proxy, did not send one. */
async function readStatus(response: KubeResponse): Promise<Status> {
  const text = await response.body.text();
  const retryAfter = Number(response.headers['retry-after']);
  const status = parseStatus(text) ?? {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: text.trim().slice(0, 200) || `HTTP ${response.statusCode}`,
  };
  return {
    ...status,
    code: status.code ?? response.statusCode,
    ...(Number.isFinite(retryAfter) ? { details: { retryAfterSeconds: retryAfter, ...status.details } } : {}),
  };
}

function parseStatus(text: string): Status | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return (parsed as Status | null)?.kind === 'Status' ? (parsed as Status) : undefined;
  } catch {
    return undefined; // Not JSON: the caller builds a Status from the text.
  }
}
