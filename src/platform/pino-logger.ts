import { Writable } from 'node:stream';
import { destination, type Logger as PinoBase, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import type { LogFields, Logger, LogLevel } from './logger.ts';

export interface LoggerOptions {
  readonly level?: LogLevel;
  /** `json`: one object a line; `pretty`: for a person; by default pretty on a terminal, else json. */
  readonly format?: 'json' | 'pretty';
  /** Where lines go; standard error by default, so that a command's own output stays clean. */
  readonly write?: (line: string) => void;
}

/** A logger on pino. Lines are written synchronously, so that the last one before a crash is there. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = 'info', write } = options;
  const format = options.format ?? (process.stderr.isTTY ? 'pretty' : 'json');
  const target = write === undefined ? destination({ dest: 2, sync: true }) : lineWriter(write);
  const stream =
    format === 'json'
      ? target
      : pretty({
          destination: target,
          colorize: write === undefined,
          messageKey: 'message',
          timestampKey: 'time',
          translateTime: 'HH:MM:ss.l',
          ignore: 'logger',
          messageFormat: '{if logger}{logger}: {end}{message}',
          sync: true,
        });
  return wrap(
    pino(
      {
        level,
        base: null,
        messageKey: 'message',
        errorKey: 'error',
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label.toUpperCase() }) },
      },
      stream,
    ),
  );
}

function wrap(base: PinoBase): Logger {
  return {
    debug: (message, fields) => base.debug(fields ?? {}, message),
    info: (message, fields) => base.info(fields ?? {}, message),
    warn: (message, fields) => base.warn(fields ?? {}, message),
    error: (message, fields) => base.error(fields ?? {}, message),
    with: (fields: LogFields) => wrap(base.child(fields)),
  };
}

function lineWriter(write: (line: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done): void {
      write(chunk.toString());
      done();
    },
  });
}
