import type { Logger } from '../platform/logger.ts';

/** Says trouble when it begins, when it becomes another, and when it ends; not at every try. */
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
    this.#logger.warn('this source of interruption signals cannot be heard now', { problem });
  }

  /** All is well, again or still. */
  end(): void {
    if (this.#known === undefined) return;
    this.#known = undefined;
    this.#logger.info('this source of interruption signals is heard again');
  }
}
