/** Compute Engine's REST API, as far as one machine needs it: calls, operations that end later, and errors in both places they come in. */
import type { Clock } from '../../platform/clock.ts';
import { SpindriftError } from '../../platform/errors.ts';
import type { HttpCall } from '../http-send.ts';
import { isSuccess, jsonOf, type RestCaller, restCall } from '../thin/rest-call.ts';

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

export interface ComputeApiOptions extends RestCaller {
  readonly clock: Clock;
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
    const { endpoint, project } = this.#options;
    const answer = await restCall(
      this.#options,
      { method, url: `${endpoint}/projects/${project}/${path}`, body },
      signal,
    );
    const parsed = jsonOf(answer);
    if (isSuccess(answer) && parsed !== undefined) return parsed as Answer;
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

function errorsOf(body: unknown, status: number): readonly ComputeError[] {
  const { error } = (body ?? {}) as { error?: { errors?: { reason?: string; message?: string }[]; message?: string } };
  const errors = (error?.errors ?? []).map(({ reason = '', message = '' }) => ({ code: reason, message }));
  return errors.length > 0 ? errors : [{ code: `${status}`, message: error?.message ?? 'no reason was given' }];
}
