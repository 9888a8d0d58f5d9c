import { describe, expect, it } from 'vitest';
import { SpindriftError } from '../platform/errors.ts';
import { keptLines } from '../platform/testkit/kept-lines.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { TroubleLog } from './trouble-log.ts';

function setUp() {
  const clock = new VirtualClock();
  const { logger, lines } = keptLines();
  const shown = (): string[] =>
    lines.filter(({ level }) => level !== 'debug').map(({ message, fields }) => `${message} ${fields.leftOut ?? 0}`);
  return { clock, trouble: new TroubleLog({ clock, logger }), shown };
}

const forbidden = (name: string): Error =>
  new Error(`nodes "${name}" is forbidden: User "me" cannot patch resource "nodes"`);

describe('trouble with an API server', () => {
  it('is said once for all objects that it concerns, and later how often it came', async () => {
    const { clock, trouble, shown } = setUp();
    for (let index = 0; index < 500; index++) trouble.error('reconciler failed', forbidden(`n${index}`));
    expect(shown()).toEqual(['reconciler failed 0']);
    await clock.advance(60_000);
    trouble.error('reconciler failed', forbidden('n1'));
    expect(shown()).toEqual(['reconciler failed 0', 'reconciler failed 499']);
  });

  it('of another kind is said beside it', () => {
    const { trouble, shown } = setUp();
    trouble.warn('cannot watch', forbidden('a'));
    trouble.warn('cannot watch', new Error('the server could not find the requested resource'));
    expect(shown()).toHaveLength(2);
  });

  it('is left to others when the server cannot be reached', () => {
    const { trouble, shown } = setUp();
    const details = { method: 'GET', path: '/', server: 'https://x', problem: 'ECONNREFUSED' };
    trouble.warn('cannot watch', new SpindriftError('KUBE_UNREACHABLE', details));
    expect(shown()).toEqual([]);
  });
});
