/** Tracks whether the API server answers our requests; logs once when it stops and once when it answers again. */
import type { Clock } from '../platform/clock.ts';
import { asError } from '../platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../platform/logger.ts';
import { RepeatedLines } from '../platform/repeated-lines.ts';

export interface ServerHealthOptions {
  readonly clock: Clock;
  readonly logger?: Logger;
}

/** Only outages longer than this are logged: the next request mends a broken connection. */
const SHORTEST_MS = 1000;

export class ServerHealth {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #lines: RepeatedLines;
  #down:
    | { readonly since: number; readonly server: string; readonly problem: string; readonly said: boolean }
    | undefined;

  constructor({ clock, logger = SILENT_LOGGER }: ServerHealthOptions) {
    this.#clock = clock;
    this.#logger = logger.with({ logger: 'kube' });
    this.#lines = new RepeatedLines({ clock });
  }

  /** Why it does not answer; undefined while it does, or before the first request. */
  get problem(): string | undefined {
    return this.#down && `the API server at ${this.#down.server} does not answer: ${this.#down.problem}`;
  }

  answered(): void {
    if (this.#down === undefined) return;
    const { since, server, said } = this.#down;
    this.#down = undefined;
    if (said) this.#logger.info('the API server answers again', { server, seconds: this.#seconds(since) });
  }

  failed(server: string, thrown: unknown): void {
    const since = this.#down?.since ?? this.#clock.elapsed();
    const problem = asError(thrown).message;
    const seconds = this.#seconds(since);
    const said = this.#down?.said ?? false;
    this.#down = { since, server, problem, said };
    if (this.#clock.elapsed() - since < SHORTEST_MS || this.#lines.say(server) === undefined) return;
    this.#down = { since, server, problem, said: true };
    this.#logger.warn('the API server does not answer, retrying', {
      server,
      problem,
      seconds,
    });
  }

  #seconds(since: number): number {
    return Math.round((this.#clock.elapsed() - since) / 1000);
  }
}
