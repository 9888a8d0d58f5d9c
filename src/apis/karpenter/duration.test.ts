import { describe, expect, it } from 'vitest';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';
import { durationMs } from './duration.ts';

describe('a duration', () => {
  it('is the sum of its parts', () => {
    expect(durationMs('1h30m')).toBe(5_400_000);
    expect(durationMs('0s')).toBe(0);
    expect(durationMs('2s250ms')).toBe(2250);
  });

  it('is never so long that its end is no date', () => {
    const longest = durationMs('999999h') ?? 0;
    for (const text of ['99999999999999h', '999999h1s', `${'9'.repeat(400)}s`]) expect(durationMs(text)).toBe(longest);
    const now = parseTimestamp('2030-01-01T00:00:00Z') ?? 0;
    expect(toTimestamp((now + longest) as EpochMs)).toBe('2144-01-30T15:00:00Z');
  });

  it('is none where it says Never or is written otherwise', () => {
    for (const text of ['Never', '', '30', '1d', '1.5h', '-1s', ' 1s']) expect(durationMs(text)).toBeUndefined();
  });
});
