import { describe, expect, it } from 'vitest';
import { SpindriftError } from './errors.ts';
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
    expect(Object.keys(entry)).toEqual(['level', 'time', 'controller', 'message', 'NodeClaim', 'error']);
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

  it('writes of our own errors the sentence, and of others the stack', () => {
    const lines = logged({ format: 'json' }, (logger) => {
      logger.warn('a', { error: new SpindriftError('OBJECT_UNKNOWN', { object: 'node x', hint: '' }) });
      logger.warn('b', { error: new TypeError('oops') });
    });
    const [ours, other] = lines.map((line) => (JSON.parse(line) as { error: unknown }).error);
    expect(ours).toBe('there is no node x');
    expect(other).toMatchObject({ type: 'TypeError', stack: expect.stringContaining('pino-logger.test.ts') });
  });

  it('writes numbers as people do', () => {
    const [line] = logged({ format: 'json' }, (logger) =>
      logger.info('a', { pricePerHour: 0.1 + 0.2, seconds: 12.3456789, pods: 123_456_789 }),
    );
    expect(JSON.parse(line!)).toMatchObject({ pricePerHour: 0.3, seconds: 12.346, pods: 123_456_789 });
  });

  it('writes for a person when asked to, in one line', () => {
    const [line] = logged({ format: 'pretty' }, (logger) => logger.info('cluster is up', { nodes: 3 }));
    expect(line).toMatch(/INFO.*cluster is up.*"nodes":3.*\n$/);
    expect(() => JSON.parse(line!)).toThrow();
  });
});
