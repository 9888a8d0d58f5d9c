/**
 * Calls with retries. Reads are retried on failures of the cloud; writes only if the cloud says that it did nothing (429). Retry-After is
 * respected. Error answers become errors of the CLOUD_* codes with IBM's code and trace.
 */
import type { Clock } from '../../../platform/clock.ts';
import { asError, SpindriftError } from '../../../platform/errors.ts';
import { retryAfterMs } from '../../retry-after.ts';
import { whileWanted } from '../../while-wanted.ts';
import type { ApiAnswer, ApiCall, HttpService } from './http-service.ts';

export interface IbmApiOptions {
  readonly service: HttpService;
  readonly clock: Clock;
  /** Added to each call, such as version and generation of the VPC API. */
  readonly query?: Readonly<Record<string, string | number>>;
  /** Timeout of a call including its retries. */
  readonly timeoutMs?: number;
}

const TRIES = 4;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const TIMEOUT_MS = 60_000;

export class IbmApi {
  readonly #options: IbmApiOptions;
  /** No calls before this moment: the cloud throttled one call, which applies to all. */
  #notBefore = 0;

  constructor(options: IbmApiOptions) {
    this.#options = options;
  }

  /** Returns the body of a successful call. */
  async call<T>(operation: string, call: ApiCall, signal: AbortSignal): Promise<T> {
    const { clock, timeoutMs = TIMEOUT_MS } = this.#options;
    const deadline = clock.deadline(timeoutMs, signal);
    try {
      for (let tries = 1; ; tries++) {
        await this.#pause(deadline.signal);
        const outcome = await this.#once(operation, call, deadline.signal);
        if (!('error' in outcome)) return outcome.body as T;
        if (outcome.waitMs === undefined || tries === TRIES) throw outcome.error;
        const wait = outcome.waitMs ?? 0;
        await clock.sleep(
          Math.min(wait > 0 ? wait : FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS),
          deadline.signal,
        );
      }
    } finally {
      deadline.cancel();
    }
  }

  async #once(
    operation: string,
    call: ApiCall,
    signal: AbortSignal,
  ): Promise<{ body: unknown } | { error: SpindriftError; waitMs?: number }> {
    const { service, query, clock } = this.#options;
    let answer: ApiAnswer;
    try {
      const whole = query === undefined ? call : { ...call, query: { ...query, ...call.query } };
      answer = await whileWanted(() => service.send(whole, signal), signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof SpindriftError) return { error };
      const failure = new SpindriftError(
        'CLOUD_UNAVAILABLE',
        { operation, problem: asError(error).message },
        { cause: error },
      );
      return call.method === 'GET' ? { error: failure, waitMs: 0 } : { error: failure };
    }
    if (answer.status < 400) return { body: answer.body };
    const error = refusal(operation, answer);
    const waitMs = retryAfterMs(answer.headers['retry-after'], clock.now());
    if (answer.status === 429) {
      this.#notBefore = Math.max(this.#notBefore, clock.elapsed() + Math.min(waitMs, LONGEST_WAIT_MS));
      return { error, waitMs };
    }
    return answer.status >= 500 && call.method === 'GET' ? { error, waitMs } : { error };
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const leftMs = this.#notBefore - this.#options.clock.elapsed();
    if (leftMs > 0) await this.#options.clock.sleep(leftMs, signal);
  }
}

/** IBM's error format: `{errors: [{code, message, target}], trace}`. */
interface ErrorBody {
  readonly errors?: readonly {
    readonly code?: string;
    readonly message?: string;
    readonly target?: { readonly name?: string };
  }[];
  readonly trace?: string;
}

/** Converts an error answer. Our code says what to do; the details have the status, IBM's code and the trace. */
export function refusal(operation: string, { status, body, headers }: ApiAnswer): SpindriftError {
  const { errors = [], trace = headers['x-request-id'] } = (body ?? {}) as ErrorBody;
  const [first] = errors;
  const said = first === undefined ? `HTTP ${status}` : `${first.message} (${first.code}${field(first)})`;
  const problem = trace === undefined ? said : `${said}, trace ${trace}`;
  const details = { operation, problem, status, apiCode: first?.code, apiMessage: first?.message, trace };
  if (status === 429) return new SpindriftError('CLOUD_THROTTLED', details);
  if (status === 401 || status === 403) return new SpindriftError('CLOUD_DENIED', details);
  if (status >= 500) return new SpindriftError('CLOUD_UNAVAILABLE', details);
  return new SpindriftError('CLOUD_REFUSED', details);
}

function field({ target }: { readonly target?: { readonly name?: string } }): string {
  return target?.name === undefined ? '' : ` at ${target.name}`;
}

/** The status and IBM's own code of an error answer; undefined for other errors. */
export function apiRefusal(
  error: unknown,
): { readonly status: number; readonly code: string; readonly message: string } | undefined {
  if (!(error instanceof SpindriftError)) return undefined;
  const { status, apiCode, apiMessage } = error.details as { status?: number; apiCode?: string; apiMessage?: string };
  return status === undefined ? undefined : { status, code: apiCode ?? '', message: apiMessage ?? error.message };
}

/** Whether the requested resource does not exist. */
export function isNotFound(error: unknown): boolean {
  return apiRefusal(error)?.status === 404;
}
