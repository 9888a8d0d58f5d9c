import { Connection, type ConnectionOptions } from './connection.ts';
import { HttpKubeClient } from './http-client.ts';
import { HttpTransport, type TransportOptions } from './http-transport.ts';

/** A client for the cluster of the kubeconfig, or of the pod we run in; sends nothing before its first call. */
export async function connect(
  options: ConnectionOptions & Omit<TransportOptions, 'connection'>,
): Promise<{ client: HttpKubeClient; connection: Connection }> {
  const connection = await Connection.load(options);
  return { client: new HttpKubeClient(new HttpTransport({ ...options, connection })), connection };
}
