import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';

describe('VirtualClock', () => {
  it('stands still until it is told to move', async () => {
    const clock = new VirtualClock();
    const before = clock.now();
    await Promise.resolve();
    expect(clock.now()).toBe(before);
    await clock.advance(1500);
    expect(clock.now()).toBe(before + 1500);
    expect(clock.elapsed()).toBe(1500);
  });

  it('runs due timers in the order of their time, and of their setting where the time is the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(20)), async (delays) => {
        const clock = new VirtualClock();
        const ran: { delay: number; index: number; at: number }[] = [];
        delays.forEach((delay, index) => {
          clock.setTimer(delay, () => ran.push({ delay, index, at: clock.elapsed() }));
        });
        await clock.advance(20);
        const expected = delays
          .map((delay, index) => ({ delay, index, at: delay }))
          .sort((a, b) => a.delay - b.delay || a.index - b.index);
        expect(ran).toEqual(expected);
      }),
    );
  });

  it('lets promises settle between two timers', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    clock.setTimer(10, () => {
      log.push('first');
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => log.push('after first'));
    });
    clock.setTimer(10, () => log.push('second'));
    await clock.advance(10);
    expect(log).toEqual(['first', 'after first', 'second']);
  });

  it('runs timers that are set while it advances, when they fall due within it', async () => {
    const clock = new VirtualClock();
    let rounds = 0;
    const again = (): void => {
      rounds++;
      clock.setTimer(10, again);
    };
    clock.setTimer(10, again);
    await clock.advance(95);
    expect(rounds).toBe(9);
    expect(clock.pending).toBe(1);
  });

  it('does not run a timer that was cancelled', async () => {
    const clock = new VirtualClock();
    let ran = false;
    const timer = clock.setTimer(10, () => {
      ran = true;
    });
    timer.cancel();
    await clock.advance(100);
    expect(ran).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it('runs as far as a promise needs', async () => {
    const clock = new VirtualClock();
    const worked = (async () => {
      for (let step = 0; step < 5; step++) await clock.sleep(60_000);
      return 'done';
    })();
    expect(await clock.run(worked)).toBe('done');
    expect(clock.elapsed()).toBe(300_000);
  });

  it('says when a promise can never settle', async () => {
    const clock = new VirtualClock();
    const never = new Promise(() => {});
    await expect(clock.run(never, 'the meeting')).rejects.toMatchObject({
      code: 'CLOCK_DEADLOCK',
      message: expect.stringContaining('the meeting can never finish'),
    });
  });

  it('runs until a condition holds, and tells when it did not come to hold in time', async () => {
    const clock = new VirtualClock();
    let count = 0;
    const tick = (): void => {
      count++;
      clock.setTimer(1000, tick);
    };
    clock.setTimer(1000, tick);
    expect(await clock.runUntil(() => count === 3, 10_000)).toBe(true);
    expect(clock.elapsed()).toBe(3000);
    expect(await clock.runUntil(() => count === 100, 10_000)).toBe(false);
    expect(clock.elapsed()).toBe(13_000);
  });
});

describe('sleep and deadline', () => {
  it('sleep is cut short by its signal, with the reason of the signal, and leaves no timer behind', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const reason = new Error('stop');
    const sleeping = clock.sleep(1000, stop.signal);
    stop.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    await expect(clock.sleep(1000, stop.signal)).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });

  it('a deadline aborts its signal with an error that says how long there was', async () => {
    const clock = new VirtualClock();
    const { signal } = clock.deadline(250);
    await clock.advance(249);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.reason).toMatchObject({ code: 'DEADLINE_EXCEEDED', message: 'not finished within 250 ms' });
  });

  it('a deadline follows its parent, and is given back by cancel', async () => {
    const clock = new VirtualClock();
    const parent = new AbortController();
    const following = clock.deadline(250, parent.signal);
    parent.abort('parent');
    expect(following.signal.reason).toBe('parent');
    const done = clock.deadline(250);
    done.cancel();
    await clock.advance(1000);
    expect(done.signal.aborted).toBe(false);
    expect(clock.deadline(250, parent.signal).signal.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });
});
