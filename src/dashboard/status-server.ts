/**
 * Health, metrics and profiles over HTTP or HTTPS, for probes, Prometheus and people: `/healthz`, `/readyz`, `/metrics`,
 * `/debug/profile`, `/debug/heap`.
 */
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../platform/clock.ts';
import { asError, SpindriftError } from '../platform/errors.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { AccessVerdict } from './bearer-access.ts';
import { PROFILE_PATHS, profileSeconds, takeProfile } from './profiles.ts';

/** Files in PEM. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface StatusServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Serves HTTPS; changed files are read again. */
  readonly tls?: CertificateFiles;
  /** Served under `/metrics`; absent on a server for probes only. */
  readonly metrics?: Metrics;
  /** Serves profiles, timed by this clock. */
  readonly profiling?: Clock;
  /** Authorizes readers of metrics and profiles; everyone can read when absent. Probes are always open. */
  access?(header: string | undefined, path: string): Promise<AccessVerdict>;
  /** Undefined when ready, else what is missing. */
  notReady?(): string | undefined;
}

export class StatusServer {
  readonly #options: StatusServerOptions;
  readonly #server: Server;
  #certificateOf = '';

  constructor(options: StatusServerOptions) {
    this.#options = options;
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      this.#answer(request, response).catch((error: unknown) => {
        // The client is gone, or has received the headers already: closing the connection tells it.
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end(`${asError(error).message}\n`);
      });
    };
    this.#server = options.tls === undefined ? createServer(answer) : createSecureServer(answer);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when it listens. */
  async listen(): Promise<void> {
    const { host, port } = this.#options;
    try {
      this.#readCertificate();
      this.#server.listen(port, host);
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
    const { metrics, profiling, notReady } = this.#options;
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://status');
    const profile = PROFILE_PATHS.find((each) => each === path);
    if (path === '/metrics' && metrics !== undefined) {
      if (!(await this.#admit(request, response, path))) return;
      response.writeHead(200, { 'content-type': metrics.contentType });
      await pipeline(metrics.pieces(), response);
    } else if (profile !== undefined && profiling !== undefined) {
      if (!(await this.#admit(request, response, path))) return;
      const seconds = profileSeconds(searchParams);
      if (seconds === undefined) response.writeHead(400).end('seconds must be a number from 1 to 120\n');
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(await takeProfile(profile, seconds, profiling));
    } else if (path === '/healthz') {
      response.writeHead(200).end('ok\n');
    } else if (path === '/readyz') {
      const missing = notReady?.call(this.#options);
      response.writeHead(missing === undefined ? 200 : 503).end(missing === undefined ? 'ok\n' : `${missing}\n`);
    } else {
      response.writeHead(404).end('not found: this server has /healthz, /readyz and /metrics\n');
    }
    this.#readCertificate();
  }

  /** Whether the request is allowed; otherwise answers it. */
  async #admit({ headers }: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    const { access } = this.#options;
    if (access === undefined) return true;
    const verdict = await access.call(this.#options, headers.authorization, path);
    if (verdict === 'unknown')
      response
        .writeHead(401, { 'www-authenticate': 'Bearer' })
        .end('send a token of this cluster in the Authorization header\n');
    if (verdict === 'forbidden') response.writeHead(403).end(`the user of this token may not get ${path}\n`);
    return verdict === 'allowed';
  }

  /** Reloads renewed certificates; connections after the next request use the new one. */
  #readCertificate(): void {
    const { tls } = this.#options;
    if (tls === undefined || !(this.#server instanceof SecureServer)) return;
    const stamp = [tls.certificate, tls.key].map((file) => statSync(file).mtimeMs).join();
    if (stamp === this.#certificateOf) return;
    this.#server.setSecureContext({ cert: readFileSync(tls.certificate), key: readFileSync(tls.key) });
    this.#certificateOf = stamp;
  }
}
