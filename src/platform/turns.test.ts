import { describe, expect, it } from 'vitest';
import { Turns } from './turns.ts';
import { VirtualClock } from './virtual-clock.ts';

describe('taking turns', () => {
  it('lets a timer run after so many steps, whoever takes them', async () => {
    const clock = new VirtualClock();
    const turns = new Turns(clock, 10);
    let steps = 0;
    const work = async (): Promise<void> => {
      for (let step = 0; step < 20; step++) {
        await turns.take();
        steps++;
      }
    };
    const all = Promise.all([work(), work(), work()]);
    const seen: number[] = [];
    clock.setTimer(0, () => seen.push(steps));
    await clock.advance(0);
    await all;
    expect(steps).toBe(60);
    expect(seen[0]).toBeLessThanOrEqual(10);
  });

  it('lets nobody wait whose steps take less than a given time', async () => {
    const clock = new VirtualClock();
    const turns = new Turns(clock, 10, 5);
    for (let step = 0; step < 100; step++) await turns.take();
    await clock.advance(5);
    let rested = false;
    const waiting = Promise.all(Array.from({ length: 10 }, () => turns.take())).then(() => (rested = true));
    await Promise.resolve();
    expect(rested).toBe(false);
    await clock.advance(0);
    await waiting;
  });

  it('lets nobody wait who is told to stop', async () => {
    const turns = new Turns(new VirtualClock(), 1);
    const stop = new AbortController();
    const taken = turns.take(stop.signal);
    stop.abort();
    await expect(taken).resolves.toBeUndefined();
  });
});
