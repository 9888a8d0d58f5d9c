import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Schema } from '../schema.ts';
import { compileRules } from './compile-rules.ts';
import { evaluateRules } from './evaluate-rules.ts';

interface Row {
  readonly expression: string;
  readonly outcome: 'true' | 'false' | 'does not compile';
}

/** Recorded on a real kube-apiserver. */
const recorded = JSON.parse(readFileSync(new URL('testdata/expressions.json', import.meta.url), 'utf8')) as {
  readonly rows: readonly Row[];
};

function outcome(rule: string): Row['outcome'] {
  const node = compileRules({ type: 'string', 'x-kubernetes-validations': [{ rule, message: 'is false' }] }, false);
  if (node?.rules[0]?.error !== undefined) return 'does not compile';
  const [error] = node === undefined ? [] : evaluateRules(node, 'x', 'spec');
  expect(error?.message ?? '').not.toContain('evaluating rule');
  return error === undefined ? 'true' : 'false';
}

describe('a CEL expression', () => {
  it.each(recorded.rows)('has the outcome that kube-apiserver gives: $expression', (row) => {
    expect(outcome(row.expression)).toBe(row.outcome);
  });
});

describe('the rules of a schema', () => {
  it('are compiled where they stand, and only there', () => {
    const schema: Schema = {
      type: 'object',
      properties: {
        plain: { type: 'object', properties: { a: { type: 'string' } } },
        list: { type: 'array', items: { type: 'string', 'x-kubernetes-validations': [{ rule: "self != ''" }] } },
      },
    };
    const node = compileRules(schema, true);
    expect([...(node?.properties.keys() ?? [])]).toEqual(['list']);
    expect(node?.properties.get('list')?.items?.rules).toHaveLength(1);
    expect(compileRules(schema.properties?.plain as Schema, true)).toBeUndefined();
  });

  it('take whole numbers as integers and others as doubles, by schema', () => {
    const schema: Schema = {
      type: 'object',
      properties: { whole: { type: 'integer' }, real: { type: 'number' } },
      'x-kubernetes-validations': [{ rule: 'self.whole + 1 == 3 && self.real + 1.0 == 3.0' }],
    };
    const node = compileRules(schema, false);
    expect(node && evaluateRules(node, { whole: 2, real: 2 })).toEqual([]);
  });

  it('see properties under their escaped names, and none that JavaScript adds', () => {
    const schema: Schema = {
      type: 'object',
      properties: { 'a.b/c-d': { type: 'string' }, __proto: { type: 'string' }, in: { type: 'string' } },
      'x-kubernetes-validations': [
        { rule: "self.a__dot__b__slash__c__dash__d == 'x'" },
        { rule: "self.__underscores__proto == 'y'" },
        { rule: "self.__in__ == 'z'" },
      ],
    };
    const node = compileRules(schema, false);
    expect(node?.rules.map((rule) => rule.error)).toEqual([undefined, undefined, undefined]);
    expect(node && evaluateRules(node, { 'a.b/c-d': 'x', __proto: 'y', in: 'z' })).toEqual([]);
    const inherited = compileRules({ ...schema, 'x-kubernetes-validations': [{ rule: 'has(self.toString)' }] }, false);
    expect(inherited?.rules[0]?.error).toContain("undefined field 'toString'");
  });

  it('say where a rule of several lines is wrong', () => {
    const rule = "self.size() > 0 &&\nself.foo == 'a'";
    const node = compileRules({ type: 'string', 'x-kubernetes-validations': [{ rule, message: 'm' }] }, false);
    expect(node?.rules[0]?.error).toBe(
      "compilation failed: ERROR: <input>:2:5: type 'string' does not support field selection\n | self.foo == 'a'\n | ....^",
    );
  });
});
