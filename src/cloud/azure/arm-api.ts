/** Azure Resource Manager: calls, operations that end later, pages, and errors whose real code may be one level down. */
import { SpindriftError } from '../../platform/errors.ts';
import type { HttpAnswer, HttpCall } from '../http-send.ts';
import { retryAfterMs } from '../retry-after.ts';
import { isPassing, isSuccess, jsonOf, type RestCaller, restCall } from '../thin/rest-call.ts';

/** The API said no. */
export class ArmRefusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(`${code}: ${message}`);
    this.name = 'ArmRefusal';
    this.status = status;
    this.code = code;
  }
}

export interface ArmApiOptions extends RestCaller {
  /** `https://management.azure.com`. */
  readonly endpoint: string;
}

interface ArmError {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly ArmError[];
}

const POLL_MS = 3_000;
const MOST_POLLS = 200;

export class ArmApi {
  readonly #options: ArmApiOptions;

  constructor(options: ArmApiOptions) {
    this.#options = options;
  }

  /** A call on a resource, `/subscriptions/...`; waits until the operation it begins has ended. */
  async call<Answer>(
    method: HttpCall['method'],
    path: string,
    apiVersion: string,
    signal: AbortSignal,
    body?: object,
  ): Promise<Answer> {
    const answer = await this.begin(method, path, apiVersion, signal, body);
    await this.#ended(answer, signal);
    return (jsonOf(answer) ?? {}) as Answer;
  }

  /** The same without waiting. */
  async begin(
    method: HttpCall['method'],
    path: string,
    apiVersion: string,
    signal: AbortSignal,
    body?: object,
  ): Promise<HttpAnswer> {
    const { endpoint } = this.#options;
    const separator = path.includes('?') ? '&' : '?';
    return this.#send(method, `${endpoint}${path}${separator}api-version=${apiVersion}`, signal, body);
  }

  /** All items of a list that comes in pages; all or an error. */
  async list<Item>(path: string, apiVersion: string, signal: AbortSignal): Promise<readonly Item[]> {
    const found: Item[] = [];
    let page = jsonOf(await this.begin('GET', path, apiVersion, signal)) as { value?: Item[]; nextLink?: string };
    for (;;) {
      found.push(...(page.value ?? []));
      if (page.nextLink === undefined || page.nextLink === '') return found;
      page = jsonOf(await this.#send('GET', page.nextLink, signal)) as typeof page;
    }
  }

  async #send(method: HttpCall['method'], url: string, signal: AbortSignal, body?: object): Promise<HttpAnswer> {
    const answer = await restCall(this.#options, { method, url, body }, signal);
    if (isSuccess(answer)) return answer;
    throw refusalOf(answer.status, (jsonOf(answer) as { error?: ArmError } | undefined)?.error);
  }

  /** Waits for the operation that an answer began; allocation errors arrive here, after a PUT that was accepted. */
  async #ended(begun: HttpAnswer, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const operation = begun.headers['azure-asyncoperation'];
    // The other way of Azure: a location that answers 202 until the operation has ended.
    const url = operation ?? (begun.status === 202 ? begun.headers.location : undefined);
    if (url === undefined) return;
    let last = begun;
    for (let poll = 0; poll < MOST_POLLS; poll++) {
      await clock.sleep(retryAfterMs(last.headers['retry-after'], clock.now()) || POLL_MS, signal);
      const seen = await this.#send('GET', url, signal).catch((error) => {
        if (signal.aborted || !isPassing(error)) throw error;
        return undefined;
      });
      if (seen === undefined) continue;
      if (operation === undefined && seen.status !== 202) return;
      const { status, error } = (jsonOf(seen) ?? {}) as { status?: string; error?: ArmError };
      if (status === 'Succeeded') return;
      if (status === 'Failed' || status === 'Canceled') throw refusalOf(200, error ?? { code: status });
      last = seen;
    }
    throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: url, problem: 'the operation does not end' });
  }
}

/** The code of the first detail is the real one, where there is one. */
function refusalOf(status: number, error: ArmError | undefined): ArmRefusal {
  const real = error?.details?.find(({ code }) => code !== undefined) ?? error;
  return new ArmRefusal(status, real?.code ?? `${status}`, real?.message ?? error?.message ?? 'no reason was given');
}
