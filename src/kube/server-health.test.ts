import { describe, expect, it } from 'vitest';
import { keptLines } from '../platform/testkit/kept-lines.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { ServerHealth } from './server-health.ts';

const SERVER = 'https://10.0.0.1:6443';

describe('the health of the API server', () => {
  it('is said once when it goes, seldom while it is gone, and once when it is back', async () => {
    const clock = new VirtualClock();
    const { logger, lines } = keptLines();
    const health = new ServerHealth({ clock, logger });
    health.answered();
    expect([health.problem, lines]).toEqual([undefined, []]);
    for (let second = 0; second < 100; second++) {
      health.failed(SERVER, new Error('connect ECONNREFUSED'));
      await clock.advance(1000);
    }
    expect(health.problem).toBe(`the API server at ${SERVER} does not answer: connect ECONNREFUSED`);
    health.answered();
    health.answered();
    expect(health.problem).toBeUndefined();
    expect(lines.map(({ message, fields }) => [message, fields.seconds])).toEqual([
      ['the API server does not answer, retrying', 1],
      ['the API server does not answer, retrying', 61],
      ['the API server answers again', 100],
    ]);
  });

  it('is not said of a connection that breaks and is made anew', async () => {
    const clock = new VirtualClock();
    const { logger, lines } = keptLines();
    const health = new ServerHealth({ clock, logger });
    for (let request = 0; request < 20; request++) health.failed(SERVER, new Error('read ECONNRESET'));
    expect(health.problem).toContain('ECONNRESET');
    await clock.advance(200);
    health.answered();
    expect([health.problem, lines]).toEqual([undefined, []]);
  });
});
