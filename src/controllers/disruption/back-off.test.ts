import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { BackOff } from './back-off.ts';

const MINUTE = 60_000;

describe('who failed', () => {
  it('waits a minute, then twice as long each time, but never more than ten, and alone', async () => {
    const clock = new VirtualClock();
    const backOff = new BackOff(clock);
    const waits: number[] = [];
    for (let time = 0; time < 6; time++) {
      backOff.failed('a');
      backOff.failed('a');
      waits.push(backOff.leftMs('a') / MINUTE);
      await clock.advance(backOff.leftMs('a'));
      expect(backOff.leftMs('a')).toBe(0);
    }
    expect(waits).toEqual([1, 2, 4, 8, 10, 10]);
    expect([backOff.failures('a'), backOff.failures('b')]).toEqual([6, 0]);
    expect(backOff.leftMs('b')).toBe(0);
  });

  it('may try again at once when everything has changed', () => {
    const backOff = new BackOff(new VirtualClock());
    backOff.failed('a');
    backOff.clear();
    expect(backOff.leftMs('a')).toBe(0);
  });

  it('starts from the beginning when it has gone well, or an hour has passed', async () => {
    const clock = new VirtualClock();
    const backOff = new BackOff(clock);
    backOff.failed('a');
    await clock.advance(MINUTE);
    backOff.failed('a');
    backOff.succeeded('a');
    expect(backOff.leftMs('a')).toBe(0);
    backOff.failed('a');
    expect(backOff.leftMs('a')).toBe(MINUTE);
    await clock.advance(62 * MINUTE);
    backOff.sweep();
    backOff.failed('a');
    expect(backOff.leftMs('a')).toBe(MINUTE);
  });
});
