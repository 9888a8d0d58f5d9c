import { expect, it } from 'vitest';
import { RecentKeys } from './recent-keys.ts';

it('a key that came lately is known, and one that came long ago is new again', () => {
  const keys = new RecentKeys(2);
  expect(['a', 'a', 'b', 'a', 'c', 'b', 'a'].map((key) => keys.add(key))).toEqual([
    true,
    false,
    true,
    false,
    true,
    false,
    true,
  ]);
});
