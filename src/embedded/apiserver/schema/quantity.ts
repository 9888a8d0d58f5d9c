/** Resource quantities (`500m`, `1.5Gi`, `1e3`) as exact numbers. */

const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const QUANTITY = /^([+-]?)(\d+\.?\d*|\.\d+)(?:([eE])([+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE])?)$/;
const NANO = 9;

/** The quantity in billionths, the smallest unit there is; finer fractions are rounded up. Undefined for other text. */
export function parseQuantity(text: string): bigint | undefined {
  const match = QUANTITY.exec(text);
  if (match === null || text.length > 64) return undefined;
  const [, sign = '', number = '', exponentSign, exponent = '0', suffix = ''] = match;
  const [whole = '', fraction = ''] = number.split('.');
  const digits = BigInt(`${whole}${fraction}` || '0');
  const binary = BINARY.indexOf(suffix);
  const power = exponentSign === undefined ? (binary >= 0 ? 0 : (DECIMAL[suffix] ?? 0)) : Number(exponent);
  if (Math.abs(power) > 1000) return undefined;
  const shift = power - fraction.length + NANO;
  const scaled = binary >= 0 ? digits * 1024n ** BigInt(binary + 1) : digits;
  const value = shift >= 0 ? scaled * 10n ** BigInt(shift) : divideUp(scaled, 10n ** BigInt(-shift));
  return sign === '-' ? -value : value;
}

function divideUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}
