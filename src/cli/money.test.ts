import { describe, expect, it } from 'vitest';
import { dollars, percent, perMonth } from './money.ts';

describe('prices', () => {
  it('have the digits that say something, and at least cents', () => {
    expect([0, 0.0384, 1.2041, 12.3456, 1234.5].map(dollars)).toEqual([
      '$0.00',
      '$0.0384',
      '$1.204',
      '$12.35',
      '$1234.50',
    ]);
  });

  it('of a month are those of 730 hours', () => {
    expect(perMonth(0.1)).toBeCloseTo(73);
  });

  it('are shares in whole percent', () => {
    expect(percent(0.666)).toBe('67 %');
  });
});
