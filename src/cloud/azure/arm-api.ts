/** Azure Resource Manager: calls, operations that end later, pages, and errors whose real code may be one level down. */
import type { Clock } from '../../platform/clock.ts';
import { SpindriftError } from '../../platform/errors.ts';
import type { HttpAnswer, HttpCall } from '../http-send.ts';
import { isSuccess, jsonOf, type RestCaller, restCall } from '../thin/rest-call.ts';

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
  readonly clock: Clock;
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

  /** Allocation errors arrive here, after a PUT that was accepted. */
  async #ended({ headers }: HttpAnswer, signal: AbortSignal): Promise<void> {
    const url = headers['azure-asyncoperation'];
    if (url === undefined) return;
    let waitMs = Math.max(0, Number(headers['retry-after'] ?? POLL_MS / 1000) * 1000);
    for (let poll = 0; poll < MOST_POLLS; poll++) {
      await this.#options.clock.sleep(waitMs, signal);
      const answer = await this.#send('GET', url, signal);
      const { status, error } = (jsonOf(answer) ?? {}) as { status?: string; error?: ArmError };
      if (status === 'Succeeded') return;
      if (status === 'Failed' || status === 'Canceled') throw refusalOf(200, error ?? { code: status });
      waitMs = Math.max(0, Number(answer.headers['retry-after'] ?? POLL_MS / 1000) * 1000);
    }
    throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: url, problem: 'the operation does not end' });
  }
}

/** The code of the first detail is the real one, where there is one. */
function refusalOf(status: number, error: ArmError | undefined): ArmRefusal {
  const real = error?.details?.find(({ code }) => code !== undefined) ?? error;
  return new ArmRefusal(status, real?.code ?? `${status}`, real?.message ?? error?.message ?? 'no reason was given');
}
