import { describe, expect, it } from 'vitest';
import type { Schema } from '../schema.ts';
import { compileRules } from './compile-rules.ts';
import { evaluateRules } from './evaluate-rules.ts';
import { loopDepth } from './rule-cost.ts';

describe('the loops of a rule', () => {
  it.each([
    ['self > 1', 0],
    ['self.all(x, x > 0)', 1],
    ['self.filter(x, x > 0).map(x, x + 1).size() < 5', 1],
    ['self.all(x, self.exists(y, (x + 1) == y))', 2],
    ['self.all(x, x in self.names)', 2],
    ["self.all(x, x in ['a', 'b'] && x.contains('c'))", 1],
    ['self.all(x, sets.contains(self.a, self.b))', 3],
    ['self.distinct().size() == 1', 2],
    ["self.all(x, x != '.all(y, .all(')", 1],
    ['self.all(x, self.all(y, self.all(z, z == x)))', 3],
  ])('%s are nested %i deep', (rule, depth) => {
    expect(loopDepth(rule)).toBe(depth);
  });

  it('are not run over so many items that the server would stand still', () => {
    const rule = 'self.all(x, self.all(y, x == y))';
    const schema: Schema = { type: 'array', items: { type: 'integer' }, 'x-kubernetes-validations': [{ rule }] };
    const node = compileRules(schema, false);
    const ones = (count: number): number[] => Array.from({ length: count }, () => 1);
    expect(node && evaluateRules(node, ones(100), 'spec')).toEqual([]);
    expect(node && evaluateRules(node, ones(10_000), 'spec')).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec',
        message:
          'Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run',
      },
    ]);
  });
});
