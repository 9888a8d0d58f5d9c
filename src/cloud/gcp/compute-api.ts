/** Compute Engine's REST API, as far as one machine needs it: calls, operations that end later, and errors in both places they come in. */
import type { Clock } from '../../platform/clock.ts';
import { asError, SpindriftError } from '../../platform/errors.ts';
import type { HttpCall, HttpSend } from '../http-send.ts';

/** One error, in the body of an answer or in an operation. */
export interface ComputeError {
  /** `ZONE_RESOURCE_POOL_EXHAUSTED` in an operation, `rateLimitExceeded` in a body. */
  readonly code: string;
  readonly message: string;
}

/** The API said no. */
export class ComputeRefusal extends Error {
  readonly status: number;
  readonly errors: readonly ComputeError[];

  constructor(status: number, errors: readonly ComputeError[]) {
    super(errors.map(({ code, message }) => `${code}: ${message}`).join('; ') || `the API answered ${status}`);
    this.name = 'ComputeRefusal';
    this.status = status;
    this.errors = errors;
  }
}

export interface Operation {
  readonly name: string;
  readonly status: 'PENDING' | 'RUNNING' | 'DONE';
  readonly error?: { readonly errors: readonly { readonly code: string; readonly message?: string }[] };
  readonly httpErrorStatusCode?: number;
}

export interface ComputeApiOptions {
  readonly clock: Clock;
  readonly send: HttpSend;
  readonly token: (signal: AbortSignal) => Promise<string>;
  /** `https://compute.googleapis.com/compute/v1`. */
  readonly endpoint: string;
  readonly project: string;
}

const POLL_MS = 1_000;
const MOST_POLLS = 120;

export class ComputeApi {
  readonly #options: ComputeApiOptions;

  constructor(options: ComputeApiOptions) {
    this.#options = options;
  }

  /** A call below the project; ComputeRefusal when the API refuses it, CLOUD_UNAVAILABLE when nothing sensible came back. */
  async call<Answer>(method: HttpCall['method'], path: string, signal: AbortSignal, body?: object): Promise<Answer> {
    const { endpoint, project, send, token } = this.#options;
    const operation = `${method} ${path.split('?')[0]}`;
    const headers = {
      authorization: `Bearer ${await token(signal)}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const url = `${endpoint}/projects/${project}/${path}`;
    const answer = await send(
      { method, url, headers, ...(body !== undefined && { body: JSON.stringify(body) }) },
      signal,
    ).catch((error) => {
      if (signal.aborted) throw signal.reason;
      throw new SpindriftError('CLOUD_UNAVAILABLE', { operation, problem: asError(error).message }, { cause: error });
    });
    const parsed = parse(answer.body);
    if (answer.status >= 200 && answer.status < 300 && parsed !== undefined) return parsed as Answer;
    throw new ComputeRefusal(answer.status, errorsOf(parsed, answer.status));
  }

  /** All items of a list that comes in pages by zone; all or an error. */
  async aggregated<Item>(
    collection: string,
    key: string,
    filter: string | undefined,
    signal: AbortSignal,
  ): Promise<readonly Item[]> {
    const found: Item[] = [];
    let pageToken: string | undefined;
    do {
      const query = new URLSearchParams({
        maxResults: '500',
        ...(filter !== undefined && { filter }),
        ...(pageToken !== undefined && { pageToken }),
      });
      const page = await this.call<{ items?: Record<string, Record<string, unknown>>; nextPageToken?: string }>(
        'GET',
        `aggregated/${collection}?${query}`,
        signal,
      );
      for (const scope of Object.values(page.items ?? {})) found.push(...((scope[key] as Item[] | undefined) ?? []));
      pageToken = page.nextPageToken === '' ? undefined : page.nextPageToken;
    } while (pageToken !== undefined);
    return found;
  }

  /** Waits for an operation of a zone to end; ComputeRefusal when it ends with an error, as stock-outs do. */
  async ended(zone: string, operation: Operation, signal: AbortSignal): Promise<void> {
    let present = operation;
    for (let poll = 0; present.status !== 'DONE'; poll++) {
      if (poll === MOST_POLLS)
        throw new SpindriftError('CLOUD_UNAVAILABLE', {
          operation: operation.name,
          problem: 'the operation does not end',
        });
      await this.#options.clock.sleep(POLL_MS, signal);
      present = await this.call<Operation>('GET', `zones/${zone}/operations/${operation.name}`, signal);
    }
    const errors = (present.error?.errors ?? []).map(({ code, message = '' }) => ({ code, message }));
    if (errors.length > 0) throw new ComputeRefusal(present.httpErrorStatusCode ?? 400, errors);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorsOf(body: unknown, status: number): readonly ComputeError[] {
  const { error } = (body ?? {}) as { error?: { errors?: { reason?: string; message?: string }[]; message?: string } };
  const errors = (error?.errors ?? []).map(({ reason = '', message = '' }) => ({ code: reason, message }));
  return errors.length > 0 ? errors : [{ code: `${status}`, message: error?.message ?? 'no reason was given' }];
}
