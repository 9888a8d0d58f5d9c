import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from './random.ts';

const draws = (random: { next(): number }, count = 20): number[] => Array.from({ length: count }, () => random.next());

describe('Random', () => {
  it('gives the same stream for the same seed, and another for another', () => {
    expect(draws(seededRandom('a'))).toEqual(draws(seededRandom('a')));
    expect(draws(seededRandom('a'))).not.toEqual(draws(seededRandom('b')));
  });

  it('gives a split stream that does not depend on what others draw or split', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(50), fc.array(fc.string()), (name, drawn, others) => {
        const quiet = seededRandom(7).split(name);
        const busy = seededRandom(7);
        draws(busy, drawn);
        for (const other of others) draws(busy.split(other), 3);
        expect(draws(busy.split(name))).toEqual(draws(quiet));
      }),
    );
  });

  it('keeps streams of different paths apart', () => {
    const root = seededRandom(1);
    expect(draws(root.split('a').split('bc'))).not.toEqual(draws(root.split('ab').split('c')));
    expect(draws(root.split('a'))).not.toEqual(draws(root.split('b')));
  });

  it('stays within its limits and reaches all of them', () => {
    const random = seededRandom(3);
    const seen = new Set(Array.from({ length: 1000 }, () => random.below(7)));
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
    for (let draw = 0; draw < 1000; draw++) {
      const value = random.between(5, 6);
      expect(value).toBeGreaterThanOrEqual(5);
      expect(value).toBeLessThan(6);
    }
  });

  it('is spread evenly: sixteen buckets of 16,000 draws each hold about a thousand', () => {
    const random = seededRandom('even');
    const buckets = new Array<number>(16).fill(0);
    for (let draw = 0; draw < 16_000; draw++) buckets[random.below(16)]!++;
    const chiSquared = buckets.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
    // The 99.99 % quantile of chi-squared with 15 degrees of freedom.
    expect(chiSquared).toBeLessThan(44.3);
  });

  it('shuffles without losing or repeating an item', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.string(), (items, seed) => {
        const shuffled = seededRandom(seed).shuffle(items);
        expect([...shuffled].sort()).toEqual([...items].sort());
      }),
    );
  });

  it('makes version 4 UUIDs and name suffixes as Kubernetes does', () => {
    const random = seededRandom(9);
    expect(random.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(random.suffix(5)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(new Set(Array.from({ length: 1000 }, () => random.uuid())).size).toBe(1000);
  });

  it('refuses to draw from nothing', () => {
    expect(() => seededRandom(1).below(0)).toThrow(RangeError);
    expect(() => seededRandom(1).pick([])).toThrow(RangeError);
  });
});
