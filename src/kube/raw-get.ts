/** A GET of a path other than an object, such as /version or discovery. */
import { type Clock, type EpochMs, parseTimestamp } from '../platform/clock.ts';
import { asError, SpindriftError } from '../platform/errors.ts';
import type { KubeConnection } from './kube-connection.ts';

export interface RawAnswer {
  readonly code: number;
  readonly text: string;
  /** The Date header of the answer, in whole seconds. */
  readonly serverTime?: EpochMs;
}

/** Sends one request without retries; rejects when it times out. */
export async function rawGet(
  connection: KubeConnection,
  path: string,
  { clock, signal, timeoutMs }: { readonly clock: Clock; readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<RawAnswer> {
  const limit = clock.deadline(timeoutMs, signal);
  const { server } = connection;
  try {
    const { headers, calls } = await connection.authorize();
    const response = await calls.request({
      origin: new URL(server).origin,
      path: new URL(server).pathname.replace(/\/$/, '') + path,
      method: 'GET',
      headers: { ...headers, accept: 'application/json', 'user-agent': 'spindrift' },
      signal: limit.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
      reset: false,
    });
    const serverTime = parseTimestamp([response.headers.date].flat()[0]);
    const text = await response.body.text();
    return { code: response.statusCode, text, ...(serverTime === undefined ? {} : { serverTime }) };
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (cause instanceof SpindriftError && cause.code !== 'DEADLINE_EXCEEDED') throw cause;
    const problem = asError(cause).message;
    throw new SpindriftError('KUBE_UNREACHABLE', { method: 'GET', path, server, problem }, { cause });
  } finally {
    limit.cancel();
  }
}
