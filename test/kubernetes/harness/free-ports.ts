import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Below the range of ports for outgoing connections. A client that retries to reach a stopped server could be given the server's own port
 * from that range, and prevent its restart.
 */
const LOWEST = 12_000;
const HIGHEST = 29_999;

/** Finds free ports on loopback, all different. */
export async function freePorts<Name extends string>(names: readonly Name[]): Promise<Record<Name, number>> {
  const servers: Server[] = [];
  try {
    const ports = {} as Record<Name, number>;
    // Kept open until all are found, so that none is found twice.
    for (const name of names) {
      const { server, port } = await takeOne();
      servers.push(server);
      ports[name] = port;
    }
    return ports;
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

async function takeOne(): Promise<{ server: Server; port: number }> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    const server = createServer();
    const taken = await new Promise<boolean>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
      );
      server.listen({ host: '127.0.0.1', port }, () => resolve(true));
    });
    if (taken) return { server, port };
  }
}
