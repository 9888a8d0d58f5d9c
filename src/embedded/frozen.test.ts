import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frozenCopy } from './frozen.ts';

function isFrozenThrough(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenThrough);
}

describe('a frozen copy', () => {
  it('says what JSON says of the object, is frozen all the way down, and leaves the object as it was', () => {
    const leaf = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom(null, undefined, () => 1),
    );
    const key = fc.oneof(fc.string(), fc.constant('__proto__'));
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('node')), fc.dictionary(key, tie('node'))),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, node), (object) => {
        const copy = frozenCopy(object);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(object));
        expect(isFrozenThrough(copy)).toBe(true);
        expect(Object.isFrozen(object)).toBe(false);
      }),
    );
  });

  it('shares what is frozen already', () => {
    const part = frozenCopy({ deep: { er: 1 } });
    expect(frozenCopy({ part, other: [] }).part).toBe(part);
  });

  it('has no field that is undefined or a function, and null for undefined in a list', () => {
    const copy = frozenCopy({ a: 1, gone: undefined, call: () => 1, list: [undefined, { b: undefined }] });
    expect(Object.keys(copy)).toEqual(['a', 'list']);
    expect(copy.list).toEqual([null, {}]);
  });
});
