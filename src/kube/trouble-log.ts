/**
 * Logs errors of requests to the API server. A component that retries would log the same error many times a second: each error is
 * logged at once and then ever more seldom. {@link ServerHealth} logs that the server is unreachable, once for all components.
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
    // Object names do not make it a different error.
    const leftOut = this.#lines.say(`${message}: ${error.message.replaceAll(/"[^"]*"/g, '')}`);
    if (leftOut === undefined) this.#logger.debug(message, { ...fields, error });
    else this.#logger[level](message, { ...fields, error, ...(leftOut > 0 && { leftOut }) });
  }
}
