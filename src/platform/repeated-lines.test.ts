import { describe, expect, it } from 'vitest';
import { RepeatedLines } from './repeated-lines.ts';
import { VirtualClock } from './virtual-clock.ts';

describe('a line that comes again and again', () => {
  it('is said at once, and then ever more seldom, with how often it was left out', async () => {
    const clock = new VirtualClock();
    const lines = new RepeatedLines({ clock });
    const said: (number | undefined)[] = [];
    for (let second = 0; second < 600; second++) {
      const leftOut = lines.say('no such kind');
      if (leftOut !== undefined) said.push(second);
      await clock.advance(1000);
    }
    expect(said).toEqual([0, 60, 180, 420]);
    expect(lines.say('another')).toBe(0);
  });

  it('is told how often it was left out', async () => {
    const clock = new VirtualClock();
    const lines = new RepeatedLines({ clock, firstMs: 1000 });
    expect([lines.say('a'), lines.say('a'), lines.say('a')]).toEqual([0, undefined, undefined]);
    await clock.advance(1000);
    expect(lines.say('a')).toBe(2);
  });

  it('is news when it comes back after a long time', async () => {
    const clock = new VirtualClock();
    const lines = new RepeatedLines({ clock, firstMs: 1000 });
    lines.say('a');
    await clock.advance(1000);
    lines.say('a');
    await clock.advance(60_000);
    expect([lines.say('a'), lines.say('a')]).toEqual([0, undefined]);
    await clock.advance(1000);
    expect(lines.say('a')).toBe(1);
  });
});
