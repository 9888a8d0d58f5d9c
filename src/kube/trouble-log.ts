/**
 * Says what goes wrong with an API server. A component that tries again would say the same many times a second: each trouble is
 * said at once and then ever more seldom. That the server cannot be reached concerns everybody, and {@link ServerHealth} says it.
 */
import type { Clock } from '../platform/clock.ts';
import { asError, hasCode } from '../platform/errors.ts';
import type { LogFields, Logger } from '../platform/logger.ts';
import { RepeatedLines } from '../platform/repeated-lines.ts';

export interface TroubleLogOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

export class TroubleLog {
  readonly #logger: Logger;
  readonly #lines: RepeatedLines;

  constructor({ clock, logger }: TroubleLogOptions) {
    this.#logger = logger;
    this.#lines = new RepeatedLines({ clock });
  }

  warn(message: string, thrown: unknown, fields: LogFields = {}): void {
    this.#say('warn', message, thrown, fields);
  }

  error(message: string, thrown: unknown, fields: LogFields = {}): void {
    this.#say('error', message, thrown, fields);
  }

  #say(level: 'warn' | 'error', message: string, thrown: unknown, fields: LogFields): void {
    const error = asError(thrown);
    if (hasCode(error, 'KUBE_UNREACHABLE')) {
      this.#logger.debug(message, { ...fields, error });
      return;
    }
    // What objects are called does not make it another trouble.
    const leftOut = this.#lines.say(`${message}: ${error.message.replaceAll(/"[^"]*"/g, '')}`);
    if (leftOut === undefined) this.#logger.debug(message, { ...fields, error });
    else this.#logger[level](message, { ...fields, error, ...(leftOut > 0 && { leftOut }) });
  }
}
