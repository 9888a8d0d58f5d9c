import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanJson } from './json-scanner.ts';

describe('scanJson', () => {
  it('finds fields that stand twice in one object, with their path', () => {
    const text = '{"a":1,"b":[{"c":1},{"c":1,"d":2,"c":3}],"a":{"x":"a","a":1}}';
    expect(scanJson(text).duplicateFields).toEqual(['b[1].c', 'a']);
  });

  it('is not misled by quotes, brackets and names inside strings', () => {
    expect(scanJson('{"a":"{\\"a\\":1,","b":"]","c":["a","a"]}').duplicateFields).toEqual([]);
    expect(scanJson('{"\\u0061":1,"a":2}').duplicateFields).toEqual(['a']);
  });

  it('measures how deep a text nests', () => {
    expect(scanJson('{"a":[[{}]]}').depth).toBe(4);
    expect(scanJson(`${'['.repeat(5000)}${']'.repeat(5000)}`).depth).toBe(5000);
  });

  it('finds nothing in what JSON.stringify writes', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => scanJson(JSON.stringify(value)).duplicateFields.length === 0));
  });

  it('ends on any text, valid or not', () => {
    fc.assert(fc.property(fc.string(), (text) => scanJson(text).depth >= 0));
  });
});
