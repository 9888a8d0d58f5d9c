/**
 * Passes connections on: `node relay.ts FROM=TO …`, where each is a port on loopback or the path of a socket. A path reaches
 * out of a network namespace, so that two relays connect a pod with this machine's loopback and with no other network.
 */
import { connect, createServer } from 'node:net';

const place = (text: string) => (/^\d+$/.test(text) ? { host: '127.0.0.1', port: Number(text) } : { path: text });

for (const pair of process.argv.slice(2)) {
  const [from = '', to = ''] = pair.split('=');
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ ...place(to), noDelay: true });
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const side of [near, far]) side.on('error', end).on('close', end);
    near.pipe(far).pipe(near);
  });
  server.listen(place(from));
}
process.stdout.write('ready\n');
