import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { KeyPair } from '../../../platform/certificates.ts';
import { asError, SpindriftError } from '../../../platform/errors.ts';
import { HttpApi, type HttpApiOptions } from './http-api.ts';

/** Where and how to listen. */
export interface HttpServerOptions extends HttpApiOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Loopback when absent. */
  readonly host?: string;
  /** Without a certificate the server speaks plain HTTP. */
  readonly certificate?: KeyPair;
}

/** The API server on a port. */
export interface ListeningServer {
  /** `https://127.0.0.1:6443`. */
  readonly url: string;
  readonly port: number;
  /** Ends every connection, watches included. */
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';

/** Starts to listen; EMBEDDED_PORT_TAKEN when another program has the port. */
export async function listen(options: HttpServerOptions): Promise<ListeningServer> {
  const { certificate, host = LOOPBACK, port } = options;
  const api = new HttpApi(options);
  const handle: Parameters<typeof createHttpServer>[1] = (request, response) => void api.handle(request, response);
  const server: Server =
    certificate === undefined
      ? createHttpServer(handle)
      : createHttpsServer({ cert: certificate.certificate, key: certificate.key, ALPNProtocols: ['http/1.1'] }, handle);
  // Watches are long and quiet, and clients may keep connections open.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 90_000;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EADDRINUSE')
        reject(new SpindriftError('EMBEDDED_PORT_TAKEN', { port, host }, { cause: error }));
      else
        reject(
          new SpindriftError(
            'EMBEDDED_PORT_REFUSED',
            { port, host, problem: asError(error).message },
            { cause: error },
          ),
        );
    };
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://${name}:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Includes connections still in the TLS handshake: the server does not count them yet and would wait for them
        // forever.
        for (const socket of sockets) socket.destroy();
      }),
  };
}
