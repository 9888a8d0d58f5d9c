/** The HTTP front of the API server: reads a request, calls the API server, writes the answer. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Status } from '../../../apis/kubernetes/status.ts';
import { KubeError } from '../../../kube/kube-error.ts';
import { asError } from '../../../platform/errors.ts';
import type { ApiServer } from '../api-server.ts';
import { internalError, noSuchPath, unauthorized } from '../status-errors.ts';
import {
  aggregatedDiscovery,
  allPaths,
  legacyCoreVersions,
  legacyGroup,
  legacyGroups,
  legacyResources,
} from './discovery.ts';
import { negotiateDiscovery } from './media-types.ts';
import { OpenApi } from './open-api-documents.ts';
import { parsePath, type RequestPath } from './request-path.ts';
import { ResourceRequests } from './resource-requests.ts';
import { VERSION } from './version.ts';
import { WatchLines } from './watch-stream.ts';

/** Settings of the HTTP front. */
export interface HttpApiOptions {
  readonly server: ApiServer;
  /** Bearer token with full access. Without a token, every client has full access. */
  readonly token?: string;
  /** Called with failures that are the server's own fault. */
  readonly onError?: (error: Error) => void;
}

/** A complete answer. A watch writes to the response itself instead. */
export interface Answer {
  readonly code: number;
  readonly body: string | Buffer;
  readonly contentType?: string;
}

const PUBLIC: readonly RequestPath['type'][] = ['health', 'version'];

/** Answers all HTTP requests. */
export class HttpApi {
  readonly #server: ApiServer;
  readonly #token: string | undefined;
  readonly #onError: ((error: Error) => void) | undefined;
  readonly #resources: ResourceRequests;
  readonly #openApi: OpenApi;

  constructor(options: HttpApiOptions) {
    this.#server = options.server;
    this.#token = options.token;
    this.#onError = options.onError;
    this.#resources = new ResourceRequests(options.server, new WatchLines());
    this.#openApi = new OpenApi(options.server.world.kinds);
  }

  /** Answers one request; never throws. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await this.#answer(request, response);
      if (answer !== undefined) send(response, answer);
    } catch (error) {
      // The client has disconnected.
      if (request.destroyed && !request.complete) response.destroy();
      else this.#fail(response, error);
    } finally {
      // Reads and drops the rest of an unread body, so that it does not block the connection.
      if (!request.complete) request.resume();
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<Answer | undefined> {
    const url = new URL(request.url ?? '/', 'http://server');
    const path = parsePath(url.pathname);
    if (this.#token !== undefined && !PUBLIC.includes(path.type)) {
      if (!isSame(request.headers.authorization ?? '', `Bearer ${this.#token}`)) throw unauthorized();
    }
    if (path.type === 'resource') return this.#resources.answer(request, response, path.resource, url.searchParams);
    if (request.method !== 'GET' && request.method !== 'HEAD') throw noSuchPath();
    return this.#answerAbout(path, request, url);
  }

  #answerAbout(path: Exclude<RequestPath, { type: 'resource' }>, request: IncomingMessage, url: URL): Answer {
    const { kinds } = this.#server.world;
    switch (path.type) {
      case 'version':
        return json(VERSION);
      case 'health':
        return { code: 200, body: healthText(path.check, url.searchParams), contentType: 'text/plain; charset=utf-8' };
      case 'open-api':
        return this.#openApi.answer(path.path);
      // kubectl asks for OpenAPI v2, only as protobuf, after it found a kind in no v3 document. An empty body is a
      // document without kinds; kubectl then reports that the kind does not exist.
      case 'open-api-v2':
        return { code: 200, body: '', contentType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' };
      case 'paths':
        return json(allPaths(kinds));
      case 'group':
        return json(legacyGroup(kinds, path.group));
      case 'group-version':
        return json(legacyResources(kinds, path.group, path.version));
      case 'group-versions': {
        const form = negotiateDiscovery(request.headers.accept);
        if (form !== 'legacy') {
          const contentType = `application/json;g=apidiscovery.k8s.io;v=${form};as=APIGroupDiscoveryList`;
          return { ...json(aggregatedDiscovery(kinds, path.prefix, form)), contentType };
        }
        return json(path.prefix === 'api' ? legacyCoreVersions(request.headers.host ?? '') : legacyGroups(kinds));
      }
      case 'unknown':
        throw noSuchPath();
    }
  }

  #fail(response: ServerResponse, thrown: unknown): void {
    const error = thrown instanceof KubeError ? thrown : this.#unexpected(asError(thrown));
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error.retryAfterMs !== undefined) response.setHeader('retry-after', String(error.retryAfterMs / 1000));
    send(response, { code: error.status.code ?? 500, body: JSON.stringify(error.status satisfies Status) });
  }

  #unexpected(error: Error): KubeError {
    this.#onError?.(error);
    return internalError(error.message);
  }
}

/** An answer in JSON. */
export function json(body: object, code = 200): Answer {
  return { code, body: JSON.stringify(body) };
}

/** Compares without revealing through timing where two texts differ. */
function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function healthText(check: string, parameters: URLSearchParams): string {
  return parameters.has('verbose') ? `[+]ping ok\n${check} check passed\n` : 'ok';
}

function send(response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  response.writeHead(answer.code, {
    'content-type': answer.contentType ?? 'application/json',
    'cache-control': 'no-cache, private',
    'content-length': body.length,
  });
  response.end(body);
}
