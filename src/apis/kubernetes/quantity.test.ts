import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasCode } from '../../platform/errors.ts';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  milliValue,
  parseQuantity,
  quantityOf,
  quantityOfMilli,
  subtractQuantities,
  wholeValue,
} from './quantity.ts';

const canonical = (text: string): string => formatQuantity(parseQuantity(text));

describe('a quantity', () => {
  // Each row was printed by apimachinery 0.36.3.
  it.each([
    ['0', '0'],
    ['00', '0'],
    ['0Ki', '0'],
    ['-0', '0'],
    ['.5', '500m'],
    ['5.', '5.'],
    ['1.5', '1500m'],
    ['1.500', '1.500'],
    ['0.001', '1m'],
    ['0.0001', '100u'],
    ['0.1n', '1n'],
    ['1000', '1k'],
    ['1000m', '1'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['0.1Ki', '102400m'],
    ['1000Ki', '1000Ki'],
    ['1024', '1024'],
    ['1.1Ki', '1126400m'],
    ['1e3', '1e3'],
    ['1000e3', '1e6'],
    ['1E3', '1E3'],
    ['1e0', '1e0'],
    ['10e1', '100'],
    ['1e-10', '1e-9'],
    ['-1.5', '-1500m'],
    ['+1', '+1'],
    ['9Ei', '9223372036854775807'],
    ['5Ei', '5Ei'],
    ['1000P', '1E'],
    ['.', '0'],
    ['m', '0'],
  ])('written as %s is printed as apimachinery prints it: %s', (written, printed) => {
    expect(canonical(written)).toBe(printed);
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '1,5',
    'abc',
    '1K',
    '1mi',
    '1e',
    '1e5m',
    '--1',
    '1.2.3',
    'Ei',
    '1e100000000',
    '0x10',
    'NaN',
  ])('is refused when it is written as %j', (text) => {
    expect.assertions(2);
    try {
      parseQuantity(text);
    } catch (error) {
      expect(hasCode(error, 'QUANTITY_INVALID')).toBe(true);
      expect((error as Error).message).toContain(JSON.stringify(text));
    }
  });

  it('may be a JSON number', () => {
    expect(milliValue(0.25)).toBe(250n);
    expect(wholeValue(3)).toBe(3n);
  });

  it('is rounded away from zero when it is counted in whole or thousandth units', () => {
    expect(milliValue('100u')).toBe(1n);
    expect(milliValue('1.0001')).toBe(1001n);
    expect(wholeValue('1m')).toBe(1n);
    expect(wholeValue('-1m')).toBe(-1n);
    expect(wholeValue('1.1Ki')).toBe(1127n);
  });

  it('takes on the format of the other when it is zero and something is added to it', () => {
    expect(formatQuantity(addQuantities(quantityOf(0), parseQuantity('1Gi')))).toBe('1Gi');
    expect(formatQuantity(addQuantities(parseQuantity('1G'), parseQuantity('1Gi')))).toBe('2073741824');
    expect(formatQuantity(subtractQuantities(parseQuantity('4'), parseQuantity('1500m')))).toBe('2500m');
    expect(formatQuantity(quantityOfMilli(1500))).toBe('1500m');
  });
});

const SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'e3', 'E-3', 'e+6'];
const written = fc
  .tuple(fc.constantFrom('', '-', '+'), fc.nat(), fc.option(fc.nat(999)), fc.constantFrom(...SUFFIXES))
  .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${suffix}`);

describe('quantities', () => {
  it('keep their amount through print and parse', () => {
    fc.assert(
      fc.property(written, (text) => {
        const quantity = parseQuantity(text);
        expect(parseQuantity(formatQuantity(quantity)).nanos).toBe(quantity.nanos);
      }),
    );
  });

  it('print the same again once they are in canonical form', () => {
    fc.assert(
      fc.property(written, (text) => {
        const { nanos, format } = parseQuantity(text);
        const printed = formatQuantity({ nanos, format });
        expect(canonical(printed)).toBe(printed);
      }),
    );
  });

  it('are ordered as their amounts are, whatever suffix they are written with', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (a, b) => {
        const order = compareQuantities(parseQuantity(`${a}k`), parseQuantity(`${b}000`));
        expect(Math.sign(order)).toBe(Math.sign(a - b));
      }),
    );
  });

  it('mean the same with each suffix as with its factor written out', () => {
    fc.assert(
      fc.property(fc.nat(8000), fc.integer({ min: 1, max: 5 }), (number, step) => {
        const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi'][step - 1];
        const decimal = ['k', 'M', 'G', 'T', 'P'][step - 1];
        expect(wholeValue(`${number}${binary}`)).toBe(BigInt(number) * 1024n ** BigInt(step));
        expect(wholeValue(`${number}${decimal}`)).toBe(BigInt(number) * 1000n ** BigInt(step));
        expect(wholeValue(`${number}e${3 * step}`)).toBe(BigInt(number) * 1000n ** BigInt(step));
      }),
    );
  });
});
