import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { mergeDifference } from './status-change.ts';

/** RFC 7386. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}

describe('the merge patch between two statuses', () => {
  it('takes away what is gone from a map inside', () => {
    expect(mergeDifference({ disruptedPods: { a: '1', b: '2' }, n: 1 }, { disruptedPods: { b: '2' } })).toEqual({
      disruptedPods: { a: null },
      n: null,
    });
  });

  it('is empty when nothing changed', () => {
    expect(mergeDifference({ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 2 }] } })).toEqual({});
  });

  it('makes the one out of the other', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer(), { maxLength: 3 }), tie('fields')),
      fields: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('any'), { maxKeys: 3 }),
    })).fields as fc.Arbitrary<Record<string, unknown>>;
    fc.assert(
      fc.property(value, value, (old, fresh) => {
        expect(canonicalJson(merge(old, mergeDifference(old, fresh)))).toBe(canonicalJson(fresh));
      }),
    );
  });
});
