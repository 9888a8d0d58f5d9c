/** Serves a test's metadata service on a loopback socket. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AskMetadata } from '../metadata/ask-metadata.ts';

export interface ServedMetadata {
  readonly url: string;
  close(): Promise<void>;
}

/** Header names as the services document them; Node gives them in lower case. */
const NAMES = [
  'Metadata-Flavor',
  'Metadata',
  'X-Forwarded-For',
  'X-aws-ec2-metadata-token',
  'X-aws-ec2-metadata-token-ttl-seconds',
];

export async function serveMetadata(ask: AskMetadata): Promise<ServedMetadata> {
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('the client has gone')));
    const headers = Object.fromEntries(
      NAMES.flatMap((name) => {
        const value = [request.headers[name.toLowerCase()]].flat()[0];
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const method = request.method === 'GET' ? 'GET' : 'PUT';
    ask({ method, path: request.url ?? '/', headers, timeoutMs: 600_000, signal: gone.signal }).then(
      (answer) => {
        response.writeHead(answer.status, answer.headers);
        response.end(answer.body);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
