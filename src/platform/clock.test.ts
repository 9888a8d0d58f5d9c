import { describe, expect, it } from 'vitest';
import { type EpochMs, parseTimestamp, toTimestamp } from './clock.ts';

const at = (text: string): EpochMs => parseTimestamp(text) as EpochMs;

describe('a timestamp', () => {
  it('has whole seconds, and never a later one than it is', () => {
    expect(toTimestamp(at('2030-01-01T12:34:56.999Z'))).toBe('2030-01-01T12:34:56Z');
    expect(toTimestamp(at('2030-01-01T12:34:57.000Z'))).toBe('2030-01-01T12:34:57Z');
    expect(toTimestamp(at('1969-12-31T23:59:59.500Z'))).toBe('1969-12-31T23:59:59Z');
  });

  it('is right however many other times were written before', () => {
    const first = at('2030-01-01T00:00:00Z');
    const times = Array.from({ length: 500 }, (_, index) => (first + index * 700) as EpochMs);
    for (const time of [...times, ...times])
      expect(toTimestamp(time)).toBe(`${new Date(time).toISOString().slice(0, 19)}Z`);
  });

  it('of no time at all is refused', () => {
    expect(() => toTimestamp(Number.NaN as EpochMs)).toThrow(RangeError);
  });
});
