import { Writable } from 'node:stream';
import { destination, type Logger as PinoBase, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import { SpindriftError } from './errors.ts';
import { type LogFields, type Logger, type LogLevel, LogThreshold } from './logger.ts';

export interface LoggerOptions {
  /** A level, or a threshold that can change later. */
  readonly level?: LogLevel | LogThreshold;
  /** `json`: one object per line; `pretty`: for people. By default pretty on a terminal, else json. */
  readonly format?: 'json' | 'pretty';
  /** Receives log lines; standard error by default, so that standard output holds only a command's answer. */
  readonly write?: (line: string) => void;
}

/** A logger on pino. Lines are written synchronously, so that none is lost in a crash. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = 'info', write } = options;
  const threshold = typeof level === 'string' ? new LogThreshold(level) : level;
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
          singleLine: true,
          sync: true,
        });
  return wrap(
    pino(
      {
        // The threshold decides: pino copies its level into every child.
        level: 'debug',
        base: null,
        messageKey: 'message',
        errorKey: 'error',
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label.toUpperCase() }), log: readable },
        serializers: { error: errorText },
      },
      stream,
    ),
    threshold,
  );
}

/** Our own errors are written for people; any other error is a bug, so that its stack is logged. */
function errorText(error: unknown): unknown {
  return error instanceof SpindriftError ? error.message : pino.stdSerializers.err(error as Error);
}

/** Significant digits of logged fractions. */
const DIGITS = 5;

/** Numbers as people write them: a price is 0.0384 and not 0.038400000000000004. */
function readable(fields: Record<string, unknown>): Record<string, unknown> {
  const rounded = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value,
  ]);
  return Object.fromEntries(rounded);
}

function wrap(base: PinoBase, threshold: LogThreshold): Logger {
  // The message is the first field: a line is read from its beginning.
  const at =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void => {
      if (threshold.allows(level)) base[level]({ message, ...fields });
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields: LogFields) => wrap(base.child(fields), threshold),
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
