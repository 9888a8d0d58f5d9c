/** What the plain REST APIs of clouds have in common: a bearer token, JSON both ways, and answers that may be nothing of the kind. */
import { asError, SpindriftError } from '../../platform/errors.ts';
import type { HttpAnswer, HttpCall, HttpSend } from '../http-send.ts';

export interface RestCaller {
  readonly send: HttpSend;
  readonly token: (signal: AbortSignal) => Promise<string>;
}

/** Sends one call; CLOUD_UNAVAILABLE when no answer came. A refusal is an answer. */
export async function restCall(
  { send, token }: RestCaller,
  { method, url, body }: Pick<HttpCall, 'method' | 'url'> & { readonly body?: object | undefined },
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const headers = {
    authorization: `Bearer ${await token(signal)}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const call = { method, url, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  return send(call, signal).catch((error) => {
    if (signal.aborted) throw signal.reason;
    const details = { operation: `${method} ${new URL(url).pathname}`, problem: asError(error).message };
    throw new SpindriftError('CLOUD_UNAVAILABLE', details, { cause: error });
  });
}

/** Whether the answer says yes. */
export function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

/** The body as JSON; undefined where it is none. */
export function jsonOf({ body }: HttpAnswer): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
