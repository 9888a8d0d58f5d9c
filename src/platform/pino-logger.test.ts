import { describe, expect, it } from 'vitest';
import { createLogger, type LoggerOptions } from './pino-logger.ts';

function logged(options: LoggerOptions, use: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  use(createLogger({ ...options, write: (line) => lines.push(line) }));
  return lines;
}

describe('createLogger', () => {
  it('writes one JSON object a line, with a constant message and the rest in fields', () => {
    const [line] = logged({ format: 'json' }, (logger) =>
      logger.with({ controller: 'nodeclaim.lifecycle' }).info('launched', {
        NodeClaim: { name: 'default-x' },
        error: new Error('none'),
      }),
    );
    const entry = JSON.parse(line!) as Record<string, unknown>;
    expect(entry).toMatchObject({
      level: 'INFO',
      message: 'launched',
      controller: 'nodeclaim.lifecycle',
      NodeClaim: { name: 'default-x' },
      error: { type: 'Error', message: 'none' },
    });
    expect(entry.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('leaves out what is below its level', () => {
    const lines = logged({ format: 'json', level: 'warn' }, (logger) => {
      logger.debug('a');
      logger.info('b');
      logger.warn('c');
      logger.error('d');
    });
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['c', 'd']);
  });

  it('writes for a person when asked to', () => {
    const [line] = logged({ format: 'pretty' }, (logger) => logger.info('cluster is up', { nodes: 3 }));
    expect(line).toMatch(/INFO.*cluster is up/);
    expect(() => JSON.parse(line!)).toThrow();
  });
});
