import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { Batcher } from './batcher.ts';

function setUp() {
  const clock = new VirtualClock();
  const window = { idleMs: 1000, maxMs: 10_000 };
  const batcher = new Batcher({ clock, window });
  const ended: number[] = [];
  const stop = new AbortController();
  const wait = () => batcher.next(stop.signal).then(() => void ended.push(clock.elapsed()));
  return { clock, batcher, ended, stop, wait, window };
}

describe('Batcher', () => {
  it('ends a batch when nothing came for the idle time', async () => {
    const { clock, batcher, ended, wait } = setUp();
    void wait();
    await clock.advance(5000);
    batcher.trigger();
    await clock.advance(600);
    batcher.trigger();
    await clock.advance(10_000);
    expect(ended).toEqual([6600]);
  });

  it('goes by the times of the moment', async () => {
    const { clock, batcher, ended, wait, window } = setUp();
    window.idleMs = 5000;
    void wait();
    batcher.trigger();
    await clock.advance(20_000);
    window.idleMs = 100;
    void wait();
    batcher.trigger();
    await clock.advance(20_000);
    expect(ended).toEqual([5000, 20_100]);
  });

  it('ends a batch after the longest time, however much comes', async () => {
    const { clock, batcher, ended, wait } = setUp();
    void wait();
    for (let step = 0; step < 40; step++) {
      batcher.trigger();
      await clock.advance(500);
    }
    expect(ended[0]).toBe(10_000);
  });

  it('starts the next batch with what came while nobody waited', async () => {
    const { clock, batcher, ended, wait } = setUp();
    batcher.trigger();
    await clock.advance(3000);
    void wait();
    await clock.advance(1000);
    expect(ended).toEqual([4000]);
  });

  it('ends a batch almost at once when something urgent comes', async () => {
    const { clock, batcher, ended, wait } = setUp();
    void wait();
    batcher.trigger();
    await clock.advance(300);
    batcher.hurry();
    await clock.advance(50);
    batcher.hurry();
    await clock.advance(5000);
    expect(ended).toEqual([450]);
    void wait();
    batcher.trigger();
    await clock.advance(2000);
    expect(ended).toEqual([450, 6350]);
  });

  it('ends an urgent batch after a second, however much comes', async () => {
    const { clock, batcher, ended, wait } = setUp();
    void wait();
    for (let step = 0; step < 40; step++) {
      batcher.hurry();
      await clock.advance(50);
    }
    expect(ended).toEqual([1000]);
  });

  it('gives up when its signal aborts', async () => {
    const { clock, batcher, stop } = setUp();
    const idle = batcher.next(stop.signal);
    stop.abort(new Error('stop'));
    await expect(idle).rejects.toThrow('stop');
    expect(clock.pending).toBe(0);
  });

  it('is begun by what is only noted, but does not wait longer for it', async () => {
    const { clock, batcher, ended, wait } = setUp();
    void wait();
    batcher.note();
    await clock.advance(900);
    batcher.note();
    await clock.advance(10_000);
    expect(ended).toEqual([1000]);
  });
});
