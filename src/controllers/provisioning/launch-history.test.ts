import { describe, expect, it } from 'vitest';
import { later, T0 } from '../testkit/objects.ts';
import { LaunchHistory, nextLaunchAt } from './launch-history.ts';

const MINUTE = 60_000;

describe('the next launch for a demand', () => {
  const wait = (count: number, tookMs = 40_000): number =>
    nextLaunchAt({ count, at: later(tookMs), launchedAt: T0 }) - later(tookMs);

  it('waits for nothing the second time, then twice as long each time, half an hour at most', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 20].map((count) => wait(count) / MINUTE)).toEqual([0, 1, 2, 4, 8, 16, 30, 30]);
  });

  it('waits at least as long as the last one took to be seen not to help', () => {
    expect(wait(2, 15 * MINUTE)).toBe(15 * MINUTE);
    expect(wait(3, 15 * MINUTE)).toBe(30 * MINUTE);
  });
});

describe('launches that have not helped', () => {
  it('count once where they were planned together, whenever each is seen not to help', () => {
    const history = new LaunchHistory();
    expect(history.failed('web', 1, later(10), T0)).toBe(true);
    expect(history.failed('web', 1, later(20), T0)).toBe(false);
    expect(history.of('web')?.count).toBe(1);
    expect(history.of('web')?.at).toBe(later(10));
  });

  it('are forgotten when the same or a later launch helps, but not for what ran before', () => {
    const history = new LaunchHistory();
    history.failed('web', 1, later(5000), later(1000));
    expect(history.helped('web', T0)).toBe(false);
    expect(history.of('web')?.count).toBe(1);
    expect(history.helped('web', later(1000))).toBe(true);
    expect(history.of('web')).toBeUndefined();
  });

  it('are forgotten an hour after the next launch could have begun', () => {
    const history = new LaunchHistory();
    history.failed('web', 2, T0, T0);
    history.sweep(later(61 * MINUTE));
    expect(history.of('web')?.count).toBe(2);
    history.sweep(later(61 * MINUTE + 1));
    expect(history.of('web')).toBeUndefined();
  });

  it('are read as they were written, where nothing newer is known', () => {
    const written = new LaunchHistory();
    written.failed('uid:1.2', 3, later(40_000), T0);
    written.failed('*', 2, later(50_000), later(10_000));
    const history = new LaunchHistory();
    history.failed('uid:1.2', 4, later(60_000), later(1000));
    history.read(`${written.write()} nonsense a#b@c/d`);
    expect(history.of('*')).toEqual({ count: 2, at: later(50_000), launchedAt: later(10_000) });
    expect(history.of('uid:1.2')?.count).toBe(4);
  });
});
