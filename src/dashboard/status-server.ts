/** Health and metrics over HTTP, for probes and for Prometheus: `/healthz`, `/readyz`, `/metrics`. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { asError, SpindriftError } from '../platform/errors.ts';
import type { Metrics } from '../platform/metrics.ts';

export interface StatusServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Shown under `/metrics`; absent on a server for health alone. */
  readonly metrics?: Metrics;
  /** Undefined when ready, else what is missing. */
  notReady?(): string | undefined;
}

export class StatusServer {
  readonly #options: StatusServerOptions;
  readonly #server: Server;

  constructor(options: StatusServerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        // Whoever has gone, or has heard the beginning, is told by the end of the connection.
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end(`${asError(error).message}\n`);
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when it listens. */
  async listen(): Promise<void> {
    const { host, port } = this.#options;
    this.#server.listen(port, host);
    try {
      await once(this.#server, 'listening');
    } catch (cause) {
      const problem = asError(cause).message;
      throw new SpindriftError('STATUS_SERVER_FAILED', { host, port, problem }, { cause });
    }
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { metrics } = this.#options;
    const path = new URL(request.url ?? '/', 'http://status').pathname;
    if (path === '/metrics' && metrics !== undefined) {
      response.writeHead(200, { 'content-type': metrics.contentType });
      await pipeline(metrics.pieces(), response);
    } else if (path === '/healthz') {
      response.writeHead(200).end('ok\n');
    } else if (path === '/readyz') {
      const missing = this.#options.notReady?.();
      response.writeHead(missing === undefined ? 200 : 503).end(missing === undefined ? 'ok\n' : `${missing}\n`);
    } else {
      response.writeHead(404).end('there is /healthz, /readyz and /metrics\n');
    }
  }
}
