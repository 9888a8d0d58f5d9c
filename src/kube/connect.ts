import { Connection, type ConnectionOptions } from './connection.ts';
import { HttpKubeClient } from './http-client.ts';
import { HttpTransport, type TransportOptions } from './http-transport.ts';

/** A client for the cluster that the kubeconfig, or the pod we run in, names; nothing is sent before its first call. */
export async function connect(
  options: ConnectionOptions & Omit<TransportOptions, 'connection'>,
): Promise<{ client: HttpKubeClient; connection: Connection }> {
  const connection = await Connection.load(options);
  return { client: new HttpKubeClient(new HttpTransport({ ...options, connection })), connection };
}
