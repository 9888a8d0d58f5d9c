/** The instance metadata service of EC2, version 2: every request carries a session token. */
import type { Clock } from '../../platform/clock.ts';
import type { AskMetadata, MetadataAnswer } from '../metadata/ask-metadata.ts';

export type ImdsAnswer =
  | { readonly kind: 'value'; readonly body: string }
  /** 404: there is no value. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'trouble'; readonly problem: string };

const TOKEN_SECONDS = 21_600;
const REFRESH_BEFORE_MS = 300_000;
const TIMEOUT_MS = 2000;

export class Imds {
  readonly #ask: AskMetadata;
  readonly #clock: Clock;
  #token: { readonly text: string; readonly until: number } | undefined;

  constructor(ask: AskMetadata, clock: Clock) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /** Reads a path of `/latest/meta-data/`; rejects only when the signal aborts. */
  async read(path: string, signal: AbortSignal): Promise<ImdsAnswer> {
    try {
      let answer = await this.#get(path, signal);
      if (answer.status === 401) {
        // The token has expired, or is from another machine: retry once with a new one.
        this.#token = undefined;
        answer = await this.#get(path, signal);
      }
      return meaning(answer);
    } catch (error) {
      signal.throwIfAborted();
      return { kind: 'trouble', problem: error instanceof Error ? error.message : String(error) };
    }
  }

  async #get(path: string, signal: AbortSignal): Promise<MetadataAnswer> {
    const token = await this.#freshToken(signal);
    const headers = { 'X-aws-ec2-metadata-token': token };
    return this.#ask({ method: 'GET', path: `/latest/meta-data/${path}`, headers, timeoutMs: TIMEOUT_MS, signal });
  }

  async #freshToken(signal: AbortSignal): Promise<string> {
    const now = this.#clock.elapsed();
    if (this.#token !== undefined && now < this.#token.until) return this.#token.text;
    const headers = { 'X-aws-ec2-metadata-token-ttl-seconds': String(TOKEN_SECONDS) };
    const request = { method: 'PUT', path: '/latest/api/token', headers, timeoutMs: TIMEOUT_MS, signal } as const;
    const answer = await this.#ask(request).catch((error: unknown) => {
      signal.throwIfAborted();
      const hint = 'a pod without hostNetwork needs a hop limit of 2 (httpPutResponseHopLimit)';
      throw new Error(`no answer to the request for a token (${(error as Error).message}); ${hint}`);
    });
    if (answer.status === 403) throw new Error('the metadata service is turned off for this instance (403)');
    if (answer.status !== 200) throw new Error(`the request for a token was answered with ${answer.status}`);
    if (!/^[\x21-\x7e]{1,1024}$/.test(answer.body))
      throw new Error('the answer to the request for a token is no token');
    const granted = Number(answer.headers['x-aws-ec2-metadata-token-ttl-seconds']);
    const seconds = granted > 0 && granted <= TOKEN_SECONDS ? granted : TOKEN_SECONDS;
    const lifeMs = Math.max(seconds * 500, seconds * 1000 - REFRESH_BEFORE_MS);
    this.#token = { text: answer.body, until: now + lifeMs };
    return answer.body;
  }
}

function meaning({ status, body }: MetadataAnswer): ImdsAnswer {
  if (status === 200) return { kind: 'value', body };
  if (status === 404) return { kind: 'absent' };
  const why = status === 403 ? 'the metadata service is turned off for this instance' : 'the metadata service failed';
  return { kind: 'trouble', problem: `${why} (${status})` };
}
