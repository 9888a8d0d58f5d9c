/** One call over HTTP, for clouds whose API is plain REST. Passed in, so that tests answer it without a socket. */
import { request } from 'undici';

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Rejects when no answer came; a refusal is an answer. */
export type HttpSend = (call: HttpCall, signal: AbortSignal) => Promise<HttpAnswer>;

/** Sends over the network. */
export const sendOverNetwork: HttpSend = async ({ method, url, headers, body }, signal) => {
  const answer = await request(url, { method, headers, signal, ...(body !== undefined && { body }) });
  const text = await answer.body.text();
  const plain = Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return { status: answer.statusCode, headers: Object.fromEntries(plain), body: text };
};
