/** The local IBM Cloud on a socket of this machine. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WireAnswer, WireRequest } from './wire-request.ts';

export interface HttpFront {
  readonly origin: string;
  close(): Promise<void>;
}

/** Listens on a free port; `answers` is made once the address is known, because answers name it. */
export async function listen(answers: (origin: string) => (request: WireRequest) => WireAnswer): Promise<HttpFront> {
  let answer: ((request: WireRequest) => WireAnswer) | undefined;
  const server: Server = createServer((message, response) => {
    const answered = read(message).then((request) => {
      const { status, headers = {}, body } = answer?.(request) ?? { status: 503 };
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    });
    // A client that goes away in the middle of its request is no trouble of ours.
    answered.catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  answer = answers(origin);
  return {
    origin,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function read(message: IncomingMessage): Promise<WireRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  const url = new URL(message.url ?? '/', 'http://local');
  const headers = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, String(value)]));
  return {
    method: message.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers,
    body: Buffer.concat(pieces).toString(),
  };
}
