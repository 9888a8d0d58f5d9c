/** Calls the local IBM Cloud without a network: calls take only virtual time, and can be observed and broken one by one. */

import type { ServiceOpener } from '../../../src/cloud/ibm/api/authentication.ts';
import type { ApiAnswer, ApiCall, HttpService } from '../../../src/cloud/ibm/api/http-service.ts';
import { API_KEY, type IbmServer } from '../server/ibm-server.ts';

export interface WirelessOptions {
  /** Called before a call is executed; throws to lose the call. */
  readonly before?: (call: ApiCall) => void | Promise<void>;
  /** Called after a call was executed; throws to lose its answer. */
  readonly after?: (call: ApiCall, answer: ApiAnswer) => void | Promise<void>;
}

/** Services of the local cloud at any URL: only the path counts. */
export function wireless(server: IbmServer, options: WirelessOptions = {}): ServiceOpener {
  return (url): HttpService => ({
    send: async (call, signal) => {
      signal.throwIfAborted();
      await options.before?.(call);
      signal.throwIfAborted();
      // A new token each time, because hours of virtual time may pass.
      const headers = { authorization: `Bearer ${token(server)}`, 'content-type': 'application/json' };
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(call.query ?? {}))
        if (value !== undefined) query.set(name, `${value}`);
      const path = `${new URL(url).pathname.replace(/\/$/, '')}${call.path}`;
      const body = call.body === undefined ? '' : JSON.stringify(call.body);
      const answer = server.answer({ method: call.method, path, query, headers, body });
      const told = { status: answer.status, headers: answer.headers ?? {}, body: copy(answer.body) };
      await options.after?.(call, told);
      signal.throwIfAborted();
      return told;
    },
  });
}

function copy(body: unknown): unknown {
  return body === undefined ? undefined : JSON.parse(JSON.stringify(body));
}

function token(server: IbmServer): string {
  const body = `grant_type=urn:ibm:params:oauth:grant-type:apikey&apikey=${API_KEY}`;
  const answer = server.answer({
    method: 'POST',
    path: '/identity/token',
    query: new URLSearchParams(),
    headers: {},
    body,
  });
  return (answer.body as { access_token: string }).access_token;
}
