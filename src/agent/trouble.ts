import type { Logger } from '../platform/logger.ts';

/** Logs a failure when it begins, changes, and ends; not at every try. */
export class Trouble {
  readonly #logger: Logger;
  #known: string | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Something failed. */
  begin(problem: string): void {
    if (problem === this.#known) return;
    this.#known = problem;
    this.#logger.warn('this interruption source cannot be read now', { problem });
  }

  /** The source works, again or still. */
  end(): void {
    if (this.#known === undefined) return;
    this.#known = undefined;
    this.#logger.info('this interruption source can be read again');
  }
}
