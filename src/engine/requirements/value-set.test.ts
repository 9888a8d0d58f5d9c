import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Operator } from '../problem.ts';
import { ValueSet } from './value-set.ts';

const set = (operator: Operator, ...values: string[]): ValueSet => ValueSet.of({ operator, values });

/** A set in words: `In a b`, `NotIn a`, `Exists`, `DoesNotExist`, with bounds as `>=` and `<=`. */
function words(one: ValueSet): string {
  const bounds = [one.gte === undefined ? [] : [`>=${one.gte}`], one.lte === undefined ? [] : [`<=${one.lte}`]].flat();
  return [one.operator(), ...[...one.values].sort(), ...bounds].join(' ');
}

const SETS: Readonly<Record<string, ValueSet>> = {
  'In 1 9': set('In', '1', '9'),
  'NotIn 1': set('NotIn', '1'),
  Exists: set('Exists'),
  DoesNotExist: set('DoesNotExist'),
  'Gt 4': set('Gt', '4'),
  'Lt 4': set('Lt', '4'),
  'Gte 9': set('Gte', '9'),
  'Lte 1': set('Lte', '1'),
};

/** Row operator, column operator, intersection. */
const MATRIX: readonly (readonly [string, string, string])[] = [
  ['In 1 9', 'In 1 9', 'In 1 9'],
  ['In 1 9', 'NotIn 1', 'In 9'],
  ['In 1 9', 'Exists', 'In 1 9'],
  ['In 1 9', 'DoesNotExist', 'DoesNotExist'],
  ['In 1 9', 'Gt 4', 'In 9'],
  ['In 1 9', 'Lt 4', 'In 1'],
  ['In 1 9', 'Gte 9', 'In 9'],
  ['In 1 9', 'Lte 1', 'In 1'],
  ['NotIn 1', 'NotIn 1', 'NotIn 1'],
  ['NotIn 1', 'Exists', 'NotIn 1'],
  ['NotIn 1', 'DoesNotExist', 'DoesNotExist'],
  ['NotIn 1', 'Gt 4', 'Exists >=5'],
  ['NotIn 1', 'Lt 4', 'NotIn 1 <=3'],
  ['NotIn 1', 'Gte 9', 'Exists >=9'],
  ['NotIn 1', 'Lte 1', 'NotIn 1 <=1'],
  ['Exists', 'Exists', 'Exists'],
  ['Exists', 'DoesNotExist', 'DoesNotExist'],
  ['Exists', 'Gt 4', 'Exists >=5'],
  ['Exists', 'Lt 4', 'Exists <=3'],
  ['Exists', 'Gte 9', 'Exists >=9'],
  ['Exists', 'Lte 1', 'Exists <=1'],
  ['DoesNotExist', 'DoesNotExist', 'DoesNotExist'],
  ['DoesNotExist', 'Gt 4', 'DoesNotExist'],
  ['DoesNotExist', 'Lt 4', 'DoesNotExist'],
  ['DoesNotExist', 'Gte 9', 'DoesNotExist'],
  ['DoesNotExist', 'Lte 1', 'DoesNotExist'],
  ['Gt 4', 'Gt 4', 'Exists >=5'],
  ['Gt 4', 'Lt 4', 'DoesNotExist'],
  ['Gt 4', 'Gte 9', 'Exists >=9'],
  ['Gt 4', 'Lte 1', 'DoesNotExist'],
  ['Lt 4', 'Lt 4', 'Exists <=3'],
  ['Lt 4', 'Gte 9', 'DoesNotExist'],
  ['Lt 4', 'Lte 1', 'Exists <=1'],
  ['Gte 9', 'Gte 9', 'Exists >=9'],
  ['Gte 9', 'Lte 1', 'DoesNotExist'],
  ['Lte 1', 'Lte 1', 'Exists <=1'],
];

describe('the intersection of two requirements', () => {
  it('is known for every pair of operators', () => {
    const names = Object.keys(SETS);
    const pairs = new Set(MATRIX.flatMap(([a, b]) => [`${a}|${b}`, `${b}|${a}`]));
    expect(pairs.size).toBe(names.length ** 2);
  });

  it.each(MATRIX)('of %s and %s is %s, in either order', (a, b, expected) => {
    const [left, right] = [SETS[a] as ValueSet, SETS[b] as ValueSet];
    expect(words(left.intersect(right))).toBe(expected);
    expect(words(right.intersect(left))).toBe(expected);
    const empty = expected === 'DoesNotExist';
    expect(left.intersects(right)).toBe(!empty);
    expect(right.intersects(left)).toBe(!empty);
  });

  it('keeps the larger minValues', () => {
    const wide = ValueSet.of({ operator: 'Exists', values: [], minValues: 2 });
    const wider = ValueSet.of({ operator: 'NotIn', values: ['a'], minValues: 5 });
    expect(wide.intersect(wider).minValues).toBe(5);
    expect(wide.intersect(set('Exists')).minValues).toBe(2);
  });

  const value = fc.constantFrom('0', '1', '2', '3', 'a', 'b');
  const anySet = fc.oneof(
    fc.record({
      operator: fc.constantFrom<Operator>('In', 'NotIn'),
      values: fc.array(value, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ operator: fc.constantFrom<Operator>('Exists', 'DoesNotExist'), values: fc.constant([]) }),
    fc.record({
      operator: fc.constantFrom<Operator>('Gt', 'Lt', 'Gte', 'Lte'),
      values: fc.constantFrom(['0'], ['1'], ['2'], ['3']),
    }),
  );

  it('holds a value exactly when both sets hold it', () => {
    fc.assert(
      fc.property(anySet, anySet, anySet, value, (a, b, c, one) => {
        const [x, y, z] = [ValueSet.of(a), ValueSet.of(b), ValueSet.of(c)];
        const all = x.intersect(y).intersect(z);
        expect(all.has(one)).toBe(x.has(one) && y.has(one) && z.has(one));
        expect(all.has(one)).toBe(x.intersect(y.intersect(z)).has(one));
      }),
    );
  });
});

describe('a set of values', () => {
  it('with bounds holds integers within them and nothing else', () => {
    expect(['4', '5', '40', 'five', '5.5'].map((one) => set('Gt', '4').has(one))).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
    expect(['4', '3', '-7'].map((one) => set('Lt', '4').has(one))).toEqual([false, true, true]);
  });

  it('allows absence only when it lists exclusions or nothing', () => {
    const allowing = Object.entries(SETS).filter(([, one]) => one.allowsAbsence);
    expect(allowing.map(([name]) => name)).toEqual(['NotIn 1', 'DoesNotExist']);
  });

  it('is written back as requirements that describe it', () => {
    const both = set('Gt', '4').intersect(set('Lte', '8')).intersect(set('NotIn', '6'));
    expect(both.toRequirements('k')).toEqual([
      { key: 'k', operator: 'Gte', values: ['5'] },
      { key: 'k', operator: 'Lte', values: ['8'] },
      { key: 'k', operator: 'NotIn', values: ['6'] },
    ]);
    expect(set('DoesNotExist').toRequirements('k')).toEqual([{ key: 'k', operator: 'DoesNotExist', values: [] }]);
  });
});
