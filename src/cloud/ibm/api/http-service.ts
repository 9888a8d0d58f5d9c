/** An authenticated HTTP service of IBM Cloud; tests fake it. */

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to the service's URL: `/instances`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
}

export interface ApiAnswer {
  readonly status: number;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
}

export interface HttpService {
  /** Returns any answer, including error statuses; rejects without an answer or token. */
  send(call: ApiCall, signal: AbortSignal): Promise<ApiAnswer>;
}
