/**
 * Structured logs. The message is constant; what varies goes into fields, objects as `{kind, namespace, name}`.
 */
export type LogFields = Readonly<Record<string, unknown>>;
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The lowest level that is logged. It can change while the program runs, for every logger that was made with it. */
export class LogThreshold {
  #least: number;

  constructor(level: LogLevel) {
    this.#least = LOG_LEVELS.indexOf(level);
  }

  set level(level: LogLevel) {
    this.#least = LOG_LEVELS.indexOf(level);
  }

  allows(level: LogLevel): boolean {
    return LOG_LEVELS.indexOf(level) >= this.#least;
  }
}

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** The error goes into the field `error`. */
  error(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to each line. */
  with(fields: LogFields): Logger;
}

/** Logs nothing. */
export const SILENT_LOGGER: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => SILENT_LOGGER,
};
