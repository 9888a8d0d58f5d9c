import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { scaledValue } from './int-or-percent.ts';
import { templateHash } from './template-hash.ts';

describe('the hash of a template', () => {
  it('does not depend on the order of its fields, nor on fields that are not set', () => {
    expect(templateHash({ a: 1, b: { c: 2, d: undefined } })).toBe(templateHash({ b: { c: 2 }, a: 1 }));
  });

  it('is another one for another template, and for another count', () => {
    const hashes = new Set(Array.from({ length: 5000 }, (_, index) => templateHash({ image: `app:${index}` })));
    expect(hashes.size).toBe(5000);
    expect(templateHash({ a: 1 }, 1)).not.toBe(templateHash({ a: 1 }, 0));
  });

  it('can stand in a name', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(templateHash(value)).toMatch(/^[a-z0-9]{1,10}$/);
      }),
    );
  });
});

describe('canonical JSON', () => {
  it('is equal for values that are equal', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (fields) => {
        const reversed = Object.fromEntries(Object.entries(fields).reverse());
        expect(canonicalJson(reversed)).toBe(canonicalJson(fields));
      }),
    );
  });
});

describe('a count or a share', () => {
  it.each([
    [3, 10, 'up', 3],
    ['25%', 10, 'up', 3],
    ['25%', 10, 'down', 2],
    ['0%', 10, 'up', 0],
    ['100%', 7, 'down', 7],
    ['4', 10, 'up', 4],
    ['many', 10, 'up', 0],
  ] as const)('of %s of %s, rounded %s, is %s', (value, of, round, expected) => {
    expect(scaledValue(value, of, round)).toBe(expected);
  });
});
