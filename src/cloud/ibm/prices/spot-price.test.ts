import { describe, expect, it } from 'vitest';
import { parsePercentOf, spotPrice } from './spot-price.ts';

describe('spotPrice', () => {
  it('is the percentage of the on-demand price that remains to be paid, by profile, by family, or for all', () => {
    const pricing = { percent: 60, percentOf: { bxf: 50, 'bxf-4x16': 40 } };
    expect(['cxf-4x8', 'bxf-8x32', 'bxf-4x16'].map((profile) => spotPrice(profile, 1, pricing))).toEqual([
      0.6, 0.5, 0.4,
    ]);
  });

  it('is read from pairs of name and percentage', () => {
    expect(parsePercentOf('bxf=40, gx3-16x80x1l4=55.5')).toEqual({ bxf: 40, 'gx3-16x80x1l4': 55.5 });
    expect(['bxf', 'bxf=0', 'bxf=140', 'bxf=x', ''].map(parsePercentOf)).toEqual(Array.from({ length: 5 }));
  });
});
