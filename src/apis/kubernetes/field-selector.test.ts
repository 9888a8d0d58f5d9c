import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeFieldValue, matchesFields, parseFieldSelector } from './field-selector.ts';

describe('a field selector', () => {
  it('is a list of equalities and inequalities', () => {
    expect(parseFieldSelector('status.phase!=Failed,metadata.name==a,spec.nodeName=')).toEqual([
      { field: 'metadata.name', operator: '=', value: 'a' },
      { field: 'spec.nodeName', operator: '=', value: '' },
      { field: 'status.phase', operator: '!=', value: 'Failed' },
    ]);
    expect(parseFieldSelector('')).toEqual([]);
  });

  it.each([
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=b\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ])("%j is refused with the API server's sentence", (selector, sentence) => {
    expect(() => parseFieldSelector(selector)).toThrow(
      expect.objectContaining({ code: 'SELECTOR_INVALID', message: sentence }),
    );
  });

  it('takes a field that is not set for empty', () => {
    const fields: Record<string, string> = { 'spec.nodeName': 'n1' };
    const matches = (text: string): boolean => matchesFields(parseFieldSelector(text), (field) => fields[field]);
    expect(matches('spec.nodeName=n1')).toBe(true);
    expect(matches('spec.nodeName!=n1')).toBe(false);
    expect(matches('status.phase=')).toBe(true);
    expect(matches('status.phase!=,spec.nodeName=n1')).toBe(false);
  });

  it('reads any value back that was escaped for it', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(parseFieldSelector(`f=${escapeFieldValue(value)}`)).toEqual([{ field: 'f', operator: '=', value }]);
      }),
    );
  });
});
