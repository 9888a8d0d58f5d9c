import { describe, expect, it } from 'vitest';
import type { Operator } from '../problem.ts';
import { satisfies, selects } from './label-match.ts';

describe('a requirement on a node label', () => {
  const holds = (operator: Operator, values: string[], value: string | undefined): boolean =>
    satisfies({ key: 'k', operator, values }, value);

  it.each<[Operator, string[], string | undefined, boolean]>([
    ['In', ['a', 'b'], 'a', true],
    ['In', ['a', 'b'], 'c', false],
    ['In', ['a'], undefined, false],
    ['NotIn', ['a'], 'a', false],
    ['NotIn', ['a'], 'b', true],
    ['NotIn', ['a'], undefined, true],
    ['Exists', [], 'x', true],
    ['Exists', [], undefined, false],
    ['DoesNotExist', [], 'x', false],
    ['DoesNotExist', [], undefined, true],
    ['Gt', ['4'], '5', true],
    ['Gt', ['4'], '4', false],
    ['Gte', ['4'], '4', true],
    ['Lt', ['4'], '3', true],
    ['Lt', ['4'], '4', false],
    ['Lte', ['4'], '4', true],
    ['Gt', ['4'], 'many', false],
    ['Lt', ['4'], undefined, false],
  ])('%s %j on %s is %s', (operator, values, value, expected) => {
    expect(holds(operator, values, value)).toBe(expected);
  });
});

describe('a label selector', () => {
  it('selects nothing when it is absent and everything when it is empty', () => {
    expect([selects(undefined, { a: '1' }), selects({}, { a: '1' }), selects({}, {})]).toEqual([false, true, true]);
  });

  it('wants all of its labels and expressions', () => {
    const selector = {
      matchLabels: { app: 'web' },
      matchExpressions: [{ key: 'tier', operator: 'NotIn' as const, values: ['x'] }],
    };
    expect(selects(selector, { app: 'web' })).toBe(true);
    expect(selects(selector, { app: 'web', tier: 'x' })).toBe(false);
    expect(selects(selector, { app: 'db' })).toBe(false);
  });
});
