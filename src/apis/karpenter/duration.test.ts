import { describe, expect, it } from 'vitest';
import { durationMs } from './duration.ts';

describe('a duration', () => {
  it('is the sum of its parts', () => {
    expect(durationMs('1h30m')).toBe(5_400_000);
    expect(durationMs('0s')).toBe(0);
    expect(durationMs('2s250ms')).toBe(2250);
  });

  it('is none where it says Never or is written otherwise', () => {
    for (const text of ['Never', '', '30', '1d', '1.5h', '-1s', ' 1s']) expect(durationMs(text)).toBeUndefined();
  });
});
