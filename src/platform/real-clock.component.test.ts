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

  it('lets only one of those who give way go on in each turn, in the order they came', async () => {
    const clock = new RealClock();
    let turn = 0;
    const count = (): void => {
      turn++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const wentOn: [string, number][] = [];
    const giveWay = async (name: string): Promise<void> => {
      await clock.sleep(0);
      wentOn.push([name, turn]);
    };
    await Promise.all(['first', 'second', 'third'].map(giveWay));
    clearImmediate(counting);
    expect(wentOn).toEqual([
      ['first', 1],
      ['second', 2],
      ['third', 3],
    ]);
  });

  it('keeps nobody waiting for one who waits no longer', async () => {
    const clock = new RealClock();
    const called: string[] = [];
    const first = clock.setTimer(0, () => called.push('first'));
    const second = clock.sleep(0);
    first.cancel();
    await second;
    expect(called).toEqual([]);
  });
});
