import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../platform/virtual-clock.ts';
import type { RequestPriority } from './client.ts';
import { RateLimiter } from './rate-limiter.ts';

function setUp() {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, perSecond: 10, burst: 2 });
  const log: string[] = [];
  const never = new AbortController().signal;
  const ask = (name: string, priority: RequestPriority = 'normal', signal = never): Promise<void> =>
    limiter.acquire(priority, signal).then(() => void log.push(`${clock.elapsed()} ${name}`));
  return { clock, log, ask };
}

describe('RateLimiter', () => {
  it('lets a burst through and then its rate, in turn', async () => {
    const { clock, log, ask } = setUp();
    for (const name of ['a', 'b', 'c', 'd']) void ask(name);
    await clock.advance(1000);
    expect(log).toEqual(['0 a', '0 b', '100 c', '200 d']);
  });

  it('lets the important ones that wait go first', async () => {
    const { clock, log, ask } = setUp();
    for (const name of ['a', 'b']) void ask(name);
    void ask('bulk', 'low');
    void ask('reconcile', 'normal');
    void ask('lease', 'high');
    await clock.advance(1000);
    expect(log.slice(2)).toEqual(['100 lease', '200 reconcile', '300 bulk']);
  });

  it('forgets those who gave up, without spending a token on them', async () => {
    const { clock, log, ask } = setUp();
    const stop = new AbortController();
    for (const name of ['a', 'b']) void ask(name);
    const given = ask('given up', 'normal', stop.signal);
    void ask('c');
    stop.abort(new Error('no longer'));
    await expect(given).rejects.toThrow('no longer');
    await clock.advance(1000);
    expect(log.slice(2)).toEqual(['100 c']);
    expect(clock.pending).toBe(0);
  });
});
