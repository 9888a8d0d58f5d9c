/** A request and its answer without a wire, so that the same server runs on a virtual clock and on a socket. */

export interface WireRequest {
  readonly method: string;
  /** With the leading slash, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent for 204. */
  readonly body?: unknown;
}

/** A refusal as the VPC API writes it; `trace` is what people give to IBM's support. */
export class WireError extends Error {
  readonly answer: WireAnswer;

  constructor(status: number, code: string, message: string, options: { field?: string; retryAfter?: number } = {}) {
    super(message);
    const target = options.field === undefined ? {} : { target: { type: 'field', name: options.field } };
    const trace = `trace-${status}-${code}`;
    this.answer = {
      status,
      headers: {
        'content-type': 'application/json',
        'x-request-id': trace,
        ...(options.retryAfter === undefined ? {} : { 'retry-after': `${options.retryAfter}` }),
      },
      body: {
        errors: [
          { code, message, more_info: 'https://cloud.ibm.com/docs/vpc?topic=vpc-rc-troubleshooting', ...target },
        ],
        trace,
      },
    };
  }
}
