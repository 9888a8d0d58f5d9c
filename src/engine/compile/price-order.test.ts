import fc from 'fast-check';
import { expect, it } from 'vitest';
import { byPrice } from './price-order.ts';

it('options go from cheap to dear, and by their number where prices are equal', () => {
  const price = fc.oneof(fc.constantFrom(0, 1, 2.5), fc.double({ min: 0, max: 3, noNaN: true }));
  fc.assert(
    fc.property(fc.array(price), (prices) => {
      const expected = [...prices.keys()].sort((a, b) => prices[a]! - prices[b]! || a - b);
      expect([...byPrice(Float64Array.from(prices))]).toEqual(expected);
    }),
  );
});
