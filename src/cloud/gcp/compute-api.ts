/** Compute Engine's REST API, as far as one machine needs it: calls, operations that end later, and errors in both places they come in. */
import { SpindriftError } from '../../platform/errors.ts';
import type { HttpCall } from '../http-send.ts';
import { isPassing, isSuccess, jsonOf, type RestCaller, restCall } from '../thin/rest-call.ts';

/** One error, in the body of an answer or in an operation. */
export interface ComputeError {
  /** `ZONE_RESOURCE_POOL_EXHAUSTED` in an operation, `rateLimitExceeded` in a body. */
  readonly code: string;
  readonly message: string;
}

const RATE_LIMIT = /rateLimitExceeded|CONCURRENT_OPERATIONS_QUOTA_EXCEEDED/i;

/** The API said no. */
export class ComputeRefusal extends Error {
  readonly status: number;
  readonly errors: readonly ComputeError[];

  constructor(status: number, errors: readonly ComputeError[]) {
    super(errors.map(({ code, message }) => `${code}: ${message}`).join('; ') || `the API answered ${status}`);
    this.name = 'ComputeRefusal';
    // Too many requests are a 403.
    this.status = errors.some(({ code, message }) => RATE_LIMIT.test(`${code} ${message}`)) ? 429 : status;
    this.errors = errors;
  }
}

export interface Operation {
  readonly name: string;
  readonly status: 'PENDING' | 'RUNNING' | 'DONE';
  readonly error?: { readonly errors: readonly { readonly code: string; readonly message?: string }[] };
  readonly httpErrorStatusCode?: number;
}

/** A page of a list over all zones: what there is by zone, and zones that did not answer. */
interface AggregatedPage {
  readonly items?: Readonly<Record<string, Readonly<Record<string, unknown>> & { readonly warning?: PageWarning }>>;
  readonly unreachables?: readonly string[];
  readonly nextPageToken?: string;
}

interface PageWarning {
  readonly code?: string;
}

export interface ComputeApiOptions extends RestCaller {
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
    const items: Item[] = [];
    let pageToken: string | undefined;
    do {
      const query = new URLSearchParams({
        maxResults: '500',
        ...(filter !== undefined && { filter }),
        ...(pageToken !== undefined && { pageToken }),
      });
      const page = await this.call<AggregatedPage>('GET', `aggregated/${collection}?${query}`, signal);
      for (const [scope, found] of Object.entries(page.items ?? {})) {
        // Instances of a zone that does not answer are not gone.
        if (found.warning?.code === 'UNREACHABLE') throw unreachable(collection, scope);
        items.push(...((found[key] as Item[] | undefined) ?? []));
      }
      const [away] = page.unreachables ?? [];
      if (away !== undefined) throw unreachable(collection, away);
      pageToken = page.nextPageToken === '' ? undefined : page.nextPageToken;
    } while (pageToken !== undefined);
    return items;
  }

  /** Waits for an operation of a zone to end; says why it failed, as stock-outs do here, and undefined when it did not. */
  async outcome(zone: string, operation: Operation, signal: AbortSignal): Promise<ComputeRefusal | undefined> {
    let present = operation;
    for (let poll = 0; present.status !== 'DONE'; poll++) {
      if (poll === MOST_POLLS)
        throw new SpindriftError('CLOUD_UNAVAILABLE', {
          operation: operation.name,
          problem: 'the operation does not end',
        });
      await this.#options.clock.sleep(POLL_MS, signal);
      const path = `zones/${zone}/operations/${operation.name}`;
      present = await this.call<Operation>('GET', path, signal).catch((error) => {
        if (signal.aborted || !isPassing(error)) throw error;
        return present;
      });
    }
    const errors = (present.error?.errors ?? []).map(({ code, message = '' }) => ({ code, message }));
    return errors.length === 0 ? undefined : new ComputeRefusal(present.httpErrorStatusCode ?? 400, errors);
  }
}

function unreachable(collection: string, scope: string): SpindriftError {
  return new SpindriftError('CLOUD_UNAVAILABLE', {
    operation: `listing ${collection}`,
    problem: `${scope} does not answer`,
  });
}

function errorsOf(body: unknown, status: number): readonly ComputeError[] {
  const { error } = (body ?? {}) as { error?: { errors?: { reason?: string; message?: string }[]; message?: string } };
  const errors = (error?.errors ?? []).map(({ reason = '', message = '' }) => ({ code: reason, message }));
  return errors.length > 0 ? errors : [{ code: `${status}`, message: error?.message ?? 'no reason was given' }];
}
