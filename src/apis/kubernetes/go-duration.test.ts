import { expect, it } from 'vitest';
import { parseDuration } from './go-duration.ts';

it.each([
  ['1h30m', 5_400_000_000_000n],
  ['1.5s', 1_500_000_000n],
  ['-2ms', -2_000_000n],
  ['1µs', 1_000n],
  ['.5s', 500_000_000n],
  ['0', 0n],
  ['1d', undefined],
  ['', undefined],
  ['5', undefined],
  ['1 h', undefined],
])('a duration of Go reads %s as %s', (text, nanoseconds) => {
  expect(parseDuration(text)).toBe(nanoseconds);
});
