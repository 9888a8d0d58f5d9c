import { LOG_LEVELS, type LogFields, type Logger, type LogLevel } from './logger.ts';

/** Logs one JSON object per line on standard error, in the format of the pino logger but without its memory. */
export function lineLogger(
  level: LogLevel,
  write: (line: string) => void = (line) => process.stderr.write(line),
  fields: LogFields = {},
): Logger {
  const least = LOG_LEVELS.indexOf(level);
  const log = (at: LogLevel) => (message: string, more?: LogFields) => {
    if (LOG_LEVELS.indexOf(at) < least) return;
    const line = { level: at.toUpperCase(), time: new Date().toISOString(), ...fields, ...more, message };
    write(`${JSON.stringify(line, errorsInWords)}\n`);
  };
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: (more) => lineLogger(level, write, { ...fields, ...more }),
  };
}

function errorsInWords(_: string, value: unknown): unknown {
  return value instanceof Error ? { type: value.name, message: value.message } : value;
}
