/** One HTTP service of IBM Cloud, authenticated; tests have one without a wire. */

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the service's address: `/instances`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
}

export interface ApiAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
}

export interface HttpService {
  /** Whatever the service answers, also a refusal; rejects when there is no answer, or no token. */
  send(call: ApiCall, signal: AbortSignal): Promise<ApiAnswer>;
}
