import type { LogFields, Logger } from '../logger.ts';

/** A log line as data. */
export interface KeptLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that collects its lines. */
export function keptLines(): { readonly logger: Logger; readonly lines: KeptLine[] } {
  const lines: KeptLine[] = [];
  const make = (always: LogFields): Logger => {
    const say =
      (level: KeptLine['level']) =>
      (message: string, fields: LogFields = {}): void => {
        lines.push({ level, message, fields: { ...always, ...fields } });
      };
    return {
      debug: say('debug'),
      info: say('info'),
      warn: say('warn'),
      error: say('error'),
      with: (fields) => make({ ...always, ...fields }),
    };
  };
  return { logger: make({}), lines };
}
