import { describe, expect, it } from 'vitest';
import { RealClock } from './real-clock.ts';

describe('RealClock', () => {
  it('tells the time of day', () => {
    const before = Date.now();
    const now = new RealClock().now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it('at a speed of 1000, an hour takes 3.6 seconds and a minute 60 ms', async () => {
    const clock = new RealClock({ speed: 1000 });
    const start = performance.now();
    await clock.sleep(60_000);
    expect(performance.now() - start).toBeGreaterThanOrEqual(59);
    expect(performance.now() - start).toBeLessThan(30_000);
    expect(clock.elapsed()).toBeGreaterThanOrEqual(59_000);
  });

  it('does not call back early for a delay that is longer than a timer of Node can be', async () => {
    const clock = new RealClock();
    let called = false;
    const timer = clock.setTimer(2 ** 31 + 1000, () => {
      called = true;
    });
    await clock.sleep(5);
    timer.cancel();
    expect(called).toBe(false);
  });
});
