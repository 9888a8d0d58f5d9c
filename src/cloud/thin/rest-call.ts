/** Calls to REST APIs of clouds: a bearer token, JSON both ways, patience while the API asks to slow down. */
import type { Clock } from '../../platform/clock.ts';
import { asError, hasCode, SpindriftError } from '../../platform/errors.ts';
import type { HttpAnswer, HttpCall, HttpSend } from '../http-send.ts';
import { retryAfterMs } from '../retry-after.ts';
import { whileWanted } from '../while-wanted.ts';

export interface RestCaller {
  readonly clock: Clock;
  readonly send: HttpSend;
  readonly token: (signal: AbortSignal) => Promise<string>;
}

/** A call before its token is added. */
export type RestRequest = Pick<HttpCall, 'method' | 'url'> & { readonly body?: object | undefined };

const MOST_TRIES = 3;
/** A longer pause is left to the controllers, which come again later. */
const LONGEST_PAUSE_MS = 30_000;

/**
 * Sends a call; CLOUD_UNAVAILABLE when no answer came, CLOUD_CREDENTIALS when there is no token. A refusal is an answer. A 429 with
 * Retry-After says that nothing was done, so the call is sent again after that time.
 */
export async function restCall(caller: RestCaller, request: RestRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const { clock } = caller;
  for (let tries = 1; ; tries++) {
    const answer = await sendOnce(caller, request, signal);
    const pauseMs = answer.status === 429 ? retryAfterMs(answer.headers['retry-after'], clock.now()) : 0;
    if (pauseMs === 0 || pauseMs > LONGEST_PAUSE_MS || tries === MOST_TRIES) return answer;
    await clock.sleep(pauseMs, signal);
  }
}

async function sendOnce(
  { send, token }: RestCaller,
  { method, url, body }: RestRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const failed = (code: 'CLOUD_CREDENTIALS' | 'CLOUD_UNAVAILABLE') => (error: unknown) => {
    if (signal.aborted) throw signal.reason;
    const details = { operation: `${method} ${new URL(url).pathname}`, problem: asError(error).message };
    throw new SpindriftError(code, details, { cause: error });
  };
  // Libraries for credentials take no signal.
  const bearer = await whileWanted(() => token(signal), signal).catch(failed('CLOUD_CREDENTIALS'));
  const headers = {
    authorization: `Bearer ${bearer}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const call = { method, url, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  return send(call, signal).catch(failed('CLOUD_UNAVAILABLE'));
}

/** Whether a question that failed so can be asked again: the API had trouble of its own, or was asked too often. */
export function isPassing(error: unknown): boolean {
  if (hasCode(error, 'CLOUD_UNAVAILABLE', 'CLOUD_CREDENTIALS')) return true;
  const status = (error as { readonly status?: unknown }).status;
  return typeof status === 'number' && (status === 429 || status >= 500);
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
