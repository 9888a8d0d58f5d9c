import { describe, expect, it } from 'vitest';
import { TokenBucket } from './token-bucket.ts';
import { VirtualClock } from './virtual-clock.ts';

describe('TokenBucket', () => {
  it('lets a burst through and then its rate', async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket({ clock, perSecond: 10, burst: 3 });
    const taken = (): number => {
      let count = 0;
      while (bucket.tryTake()) count++;
      return count;
    };
    expect(taken()).toBe(3);
    expect(bucket.untilNext()).toBe(100);
    await clock.advance(200);
    expect(taken()).toBe(2);
    await clock.advance(3_600_000);
    expect(taken()).toBe(3);
  });

  it('reserves tokens of the future in turn', () => {
    const bucket = new TokenBucket({ clock: new VirtualClock(), perSecond: 10, burst: 1 });
    expect([bucket.reserve(), bucket.reserve(), bucket.reserve()]).toEqual([0, 100, 200]);
  });
});
