/** A handler of HTTP calls on a socket of this machine, for SDKs that know only sockets. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpAnswer, HttpCall } from '../../src/cloud/http-send.ts';

export interface ServedHandler {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves on a free port of the loopback address; calls are handed on with the address that `base` gives. */
export async function serveHandler(
  handle: (call: HttpCall, signal: AbortSignal) => Promise<HttpAnswer>,
  base: () => string,
): Promise<ServedHandler> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      const call = {
        method: request.method as HttpCall['method'],
        url: `${base()}${request.url}`,
        headers: {},
        ...(body !== '' && { body }),
      };
      const answer = await handle(call, new AbortController().signal);
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
