/**
 * Structured logs. The message is constant; what varies goes into fields, objects as `{kind, namespace, name}`.
 */
export type LogFields = Readonly<Record<string, unknown>>;
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** The error goes into the field `error`. */
  error(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to each line. */
  with(fields: LogFields): Logger;
}

/** Says nothing. */
export const SILENT_LOGGER: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => SILENT_LOGGER,
};
