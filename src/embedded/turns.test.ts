import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { Turns } from './turns.ts';

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
});
