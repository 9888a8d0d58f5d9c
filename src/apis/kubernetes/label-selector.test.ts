import { describe, expect, it } from 'vitest';
import { hasCode } from '../../platform/errors.ts';
import {
  compileLabelSelector,
  formatLabelSelector,
  matchBoth,
  matchLabels,
  NOTHING,
  parseLabelSelector,
} from './label-selector.ts';

const WEB = { app: 'web', tier: 'a', count: '5' };

describe('a label selector in text', () => {
  it.each([
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app = web , tier=a', true],
    ['app!=web', false],
    ['other!=web', true],
    ['app in (db,web)', true],
    ['app in (db)', false],
    ['app notin (db)', true],
    ['other notin (db)', true],
    ['app', true],
    ['!app', false],
    ['!other', true],
    ['app=', false],
    ['other=', false],
    ['count>4', true],
    ['count<5', false],
    ['app>4', false],
    ['in in (in)', false],
    ['constructor', false],
  ])('%j on {app: web, tier: a, count: 5} gives %s', (selector, expected) => {
    expect(parseLabelSelector(selector).matches(WEB)).toBe(expected);
  });

  // Each sentence is the API server's, with apimachinery 0.36.3.
  it.each([
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    [
      'a>b',
      "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'a/b/c',
      "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ],
  ])("%j is refused with the API server's sentence", (selector, sentence) => {
    expect(() => parseLabelSelector(selector)).toThrow(
      expect.objectContaining({ code: 'SELECTOR_INVALID', message: sentence }),
    );
  });

  it('is printed in a fixed order', () => {
    expect(formatLabelSelector(parseLabelSelector('z notin (b,a),!y,x in (2,1,,),a==1,b!=2'))).toBe(
      'a==1,b!=2,x in (,1,2),!y,z notin (a,b)',
    );
  });
});

describe('a label selector in a manifest', () => {
  it('matches nothing when it is absent and everything when it is empty', () => {
    expect(compileLabelSelector(undefined).matches(WEB)).toBe(false);
    expect(compileLabelSelector({}).matches(undefined)).toBe(true);
  });

  it('needs its labels and all of its expressions', () => {
    const selector = compileLabelSelector({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['a', 'b'] },
        { key: 'canary', operator: 'DoesNotExist' },
      ],
    });
    expect(selector.matches(WEB)).toBe(true);
    expect(selector.matches({ ...WEB, canary: '' })).toBe(false);
    expect(selector.matches({ app: 'web' })).toBe(false);
    expect(formatLabelSelector(selector)).toBe('app=web,!canary,tier in (a,b)');
  });

  it('is refused when an operator needs values and has none, or is not known', () => {
    const withOperator =
      (operator: 'In' | 'Is'): (() => unknown) =>
      () =>
        compileLabelSelector({ matchExpressions: [{ key: 'a', operator: operator as 'In' }] });
    expect(withOperator('In')).toThrow(
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    );
    expect(withOperator('Is')).toThrow('"Is" is not a valid label selector operator');
    try {
      withOperator('Is')();
    } catch (error) {
      expect(hasCode(error, 'SELECTOR_INVALID')).toBe(true);
    }
  });

  it('joined with another needs both', () => {
    const both = matchBoth(matchLabels({ app: 'web' }), matchLabels({ tier: 'b' }));
    expect(both.matches(WEB)).toBe(false);
    expect(both.matches({ app: 'web', tier: 'b' })).toBe(true);
    expect(matchBoth(NOTHING, matchLabels({})).matches(WEB)).toBe(false);
  });
});
