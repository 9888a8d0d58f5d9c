import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAPACITY_TYPES } from '../../apis/karpenter/labels.ts';
import { includes, type OfferingPattern, overlaps, parsePattern, patternText } from './offering-pattern.ts';
import { type Override, overridden, remaining, restored } from './overrides.ts';

const pattern: fc.Arbitrary<OfferingPattern> = fc.record({
  capacityType: fc.constantFrom(...CAPACITY_TYPES),
  instanceType: fc.constantFrom('*', 'm5.large', 'c5.large'),
  zone: fc.constantFrom('*', 'sim-1a', 'sim-1b'),
});
const single = pattern.filter(({ instanceType, zone }) => instanceType !== '*' && zone !== '*');
const change = fc.oneof(fc.constant({ capacity: 0 }), fc.record({ priceFactor: fc.constantFrom(0.5, 2, 3) }));
/** A list as it comes about: change after change. */
const list = fc
  .array(fc.tuple(pattern, change), { maxLength: 8, size: 'max' })
  .map((changes) => changes.reduce<Override[]>((all, [of, what]) => overridden(all, of, what), []));

/** As the cloud reads it: the last that fits counts, for each field by itself. */
function effective(overrides: readonly Override[], offering: OfferingPattern, field: 'capacity' | 'priceFactor') {
  return overrides.findLast((other) => other[field] !== undefined && includes(other, offering))?.[field];
}

describe('patterns of offerings', () => {
  it('mean all where they end early', () => {
    expect(parsePattern('spot')).toEqual({ capacityType: 'spot', instanceType: '*', zone: '*' });
    expect(patternText(parsePattern('on-demand:m5.large'))).toBe('on-demand:m5.large:*');
  });

  it.each(['', 'sport', 'spot:', 'spot:a:b:c', 'spot:a:'])('refuse %j and say how to write them', (text) => {
    expect(() => parsePattern(text)).toThrow('write capacityType:instanceType:zone');
  });

  it('overlap when one of them includes the other', () => {
    fc.assert(fc.property(pattern, pattern, (a, b) => !includes(a, b) || overlaps(a, b)));
  });
});

describe('what is different for some offerings', () => {
  it('is what was said last about them', () => {
    fc.assert(
      fc.property(list, pattern, change, single, (before, of, what, offering) => {
        const after = overridden(before, of, what);
        const same = before.find((other) => patternText(other) === patternText(of));
        for (const field of ['capacity', 'priceFactor'] as const) {
          const said = includes(of, offering) ? ((what as Partial<Override>)[field] ?? same?.[field]) : undefined;
          expect(effective(after, offering, field)).toBe(said ?? effective(before, offering, field));
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('names no offerings twice, which the API server would refuse', () => {
    fc.assert(fc.property(list, (overrides) => new Set(overrides.map(patternText)).size === overrides.length));
  });

  it('is gone for what was restored, unless something wider still holds', () => {
    fc.assert(
      fc.property(list, pattern, single, (before, of, offering) => {
        fc.pre(includes(of, offering));
        const after = restored(before, of);
        if (remaining(after, of).length === 0) expect(effective(after, offering, 'capacity')).toBeUndefined();
        for (const other of after) expect(includes(of, other)).toBe(false);
      }),
    );
  });
});
