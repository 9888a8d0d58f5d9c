import { describe, expect, it } from 'vitest';
import { goRegExp } from './go-regexp.ts';

describe('a regular expression of Go', () => {
  it.each([
    ['(?i)^abc$', 'ABC', true],
    ['^[[:alpha:]_]+$', 'a_B', true],
    ['^[[:alpha:]]+$', 'a1', false],
    ['^(?P<name>a+)$', 'aa', true],
    ['\\Aab\\z', 'ab', true],
    ['^[a-z]+\\-[0-9]$', 'foo-1', true],
    ['^[\\w\\-\\/]+$', 'a-b/c', true],
    ['^\\pL+$', 'äß', true],
    ['^a\\_b\\"\\:$', 'a_b":', true],
    ['^([0-9]+(s|m|h))+$', '1h30m', true],
    ['^.$', '😀', true],
  ])('%s says of %s: %s', (pattern, text, matches) => {
    expect(goRegExp(pattern)?.test(text)).toBe(matches);
  });

  it('is none where Go would not take it', () => {
    expect(goRegExp('(')).toBeUndefined();
    expect(goRegExp('[a')).toBeUndefined();
    expect(goRegExp('*')).toBeUndefined();
  });
});
