import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { RecentCount } from './recent-count.ts';

describe('a count of what came recently', () => {
  it('holds while more comes, also where a new moment has only just begun, and falls when no more does', async () => {
    const clock = new VirtualClock();
    const recent = new RecentCount(clock, 100);
    expect(recent.value).toBe(0);
    for (let step = 0; step < 30; step++) {
      recent.add();
      recent.add();
      await clock.advance(10);
      if (step >= 9) expect(recent.value).toBeGreaterThanOrEqual(18);
    }
    await clock.advance(200);
    expect(recent.value).toBe(0);
  });

  it('is small where little comes', async () => {
    const clock = new VirtualClock();
    const recent = new RecentCount(clock, 100);
    for (let step = 0; step < 10; step++) {
      recent.add();
      await clock.advance(60);
      expect(recent.value).toBeLessThanOrEqual(2);
    }
  });
});
