import { expect, it } from 'vitest';
import { FilterSets, NO_FILTERS } from './filter-sets.ts';

it('sets with the same filters have the same number, in whatever order they were put together', () => {
  const sets = new FilterSets();
  const forth = sets.with(sets.with(NO_FILTERS, 12), 3);
  const back = sets.with(sets.with(sets.with(NO_FILTERS, 3), 12), 3);
  expect(back).toBe(forth);
  expect(sets.members(forth)).toEqual([3, 12]);
  expect(sets.members(NO_FILTERS)).toEqual([]);
});
