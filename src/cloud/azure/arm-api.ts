/** Azure Resource Manager: calls, operations that end later, pages, and errors whose real code may be one level down. */
import type { Clock } from '../../platform/clock.ts';
import { asError, SpindriftError } from '../../platform/errors.ts';
import type { HttpAnswer, HttpCall, HttpSend } from '../http-send.ts';

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

export interface ArmApiOptions {
  readonly clock: Clock;
  readonly send: HttpSend;
  readonly token: (signal: AbortSignal) => Promise<string>;
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
    return (parse(answer.body) ?? {}) as Answer;
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
    let page = parse((await this.begin('GET', path, apiVersion, signal)).body) as { value?: Item[]; nextLink?: string };
    for (;;) {
      found.push(...(page.value ?? []));
      if (page.nextLink === undefined || page.nextLink === '') return found;
      page = parse((await this.#send('GET', page.nextLink, signal)).body) as typeof page;
    }
  }

  async #send(method: HttpCall['method'], url: string, signal: AbortSignal, body?: object): Promise<HttpAnswer> {
    const { send, token } = this.#options;
    const headers = {
      authorization: `Bearer ${await token(signal)}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const answer = await send(
      { method, url, headers, ...(body !== undefined && { body: JSON.stringify(body) }) },
      signal,
    ).catch((error) => {
      if (signal.aborted) throw signal.reason;
      throw new SpindriftError(
        'CLOUD_UNAVAILABLE',
        { operation: `${method} ${new URL(url).pathname}`, problem: asError(error).message },
        { cause: error },
      );
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw refusalOf(answer.status, (parse(answer.body) as { error?: ArmError } | undefined)?.error);
  }

  /** Allocation errors arrive here, after a PUT that was accepted. */
  async #ended({ headers }: HttpAnswer, signal: AbortSignal): Promise<void> {
    const url = headers['azure-asyncoperation'];
    if (url === undefined) return;
    let waitMs = Math.max(0, Number(headers['retry-after'] ?? POLL_MS / 1000) * 1000);
    for (let poll = 0; poll < MOST_POLLS; poll++) {
      await this.#options.clock.sleep(waitMs, signal);
      const answer = await this.#send('GET', url, signal);
      const { status, error } = (parse(answer.body) ?? {}) as { status?: string; error?: ArmError };
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
