/**
 * Kubernetes quantities: `500m`, `1.5Gi`, `1e3`. They are parsed and printed like apimachinery does, and held exactly, as a
 * whole number of billionths, the smallest unit of Kubernetes.
 */
import { SpindriftError } from '../../platform/errors.ts';

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** An exact amount, and the family of suffixes it was written with. */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
  /** The original text, where apimachinery treats it as canonical and returns it unchanged. */
  readonly text?: string;
}

const NANO = 1_000_000_000n;
const MILLI_IN_NANOS = 1_000_000n;
const LARGEST_BINARY = (2n ** 63n - 1n) * NANO;
/** Far more than any machine has; larger exponents only serve to use up memory. */
const LARGEST_EXPONENT = 400;

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

const SHAPE = /^([+-]?)(\d*)(?:(\.)(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/;

/** Reads a quantity as the API server does, including its leniencies (`.5`, `5.`, `+1`, and a lone suffix for zero). */
export function parseQuantity(text: string | number): Quantity {
  const written = String(text);
  if (written === '') throw invalid(written, 'it is empty');
  const match = SHAPE.exec(written);
  if (match === null)
    throw invalid(written, 'a number is followed by n, u, m, k, M, G, T, P, E, Ki to Ei, or an exponent');
  const [, sign, whole = '', , fraction = '', suffix = ''] = match;
  const { base, exponent, format } = interpretSuffix(suffix, written);
  // A text without digits is zero, except where apimachinery leaves its fast path.
  if (whole === '' && fraction === '' && (base === 2 ? exponent >= 50 : exponent < -9)) {
    throw invalid(written, 'it has no digits');
  }
  const digits = BigInt(`${whole}${fraction}` || '0');
  const magnitude =
    base === 2 ? binaryNanos(digits, fraction.length, exponent) : decimalNanos(digits, exponent - fraction.length);
  const nanos = sign === '-' ? -magnitude : magnitude;
  // Apimachinery keeps amounts below one in decimal from then on.
  const kept = format === 'BinarySI' && magnitude > 0n && magnitude < NANO ? 'DecimalSI' : format;
  return isTakenAsCanonical(whole.replace(/^0+/, '') || '0', fraction, base, exponent, digits)
    ? { nanos, format: kept, text: written }
    : { nanos, format: kept };
}

/** The amount in thousandths, rounded away from zero: `cpu` in milli-cores. */
export function milliValue(quantity: string | number | Quantity): bigint {
  return divideUp(toQuantity(quantity).nanos, MILLI_IN_NANOS);
}

/** The amount in units, rounded away from zero: bytes, pods, devices. */
export function wholeValue(quantity: string | number | Quantity): bigint {
  return divideUp(toQuantity(quantity).nanos, NANO);
}

/** Below zero when a is less than b, zero when they are equal. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

/** The sum, in the format of the first one unless that is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** The difference, in the format of the first one unless that is zero. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos - b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** A quantity of that many thousandths. */
export function quantityOfMilli(milli: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity {
  return { nanos: BigInt(milli) * MILLI_IN_NANOS, format };
}

/** A quantity of that many units. */
export function quantityOf(units: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity {
  return { nanos: BigInt(units) * NANO, format };
}

/** The canonical text: no fraction, no loss, the largest suffix of the quantity's own family that allows it. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text;
  const { nanos, format } = quantity;
  if (nanos === 0n) return '0';
  const units = nanos / NANO;
  const fitsBinary = nanos % NANO === 0n && (units >= 1024n || units <= -1024n);
  if (format === 'BinarySI' && fitsBinary) {
    const [mantissa, steps] = divideOut(units, 1024n, BINARY_SUFFIXES.length - 1);
    return `${mantissa}${BINARY_SUFFIXES[steps]}`;
  }
  if (format === 'DecimalExponent') {
    const [mantissa, steps] = divideOut(nanos, 1000n, Number.POSITIVE_INFINITY);
    return steps === 3 ? `${mantissa}` : `${mantissa}e${3 * steps - 9}`;
  }
  const [mantissa, steps] = divideOut(nanos, 1000n, DECIMAL_SUFFIXES.length - 1);
  return `${mantissa}${DECIMAL_SUFFIXES[steps]}`;
}

/** Caches parsed quantities: a cluster has few different ones, each on thousands of objects. */
const MOST_KNOWN = 4096;
const known = new Map<string | number, Quantity>();

function toQuantity(quantity: string | number | Quantity): Quantity {
  if (typeof quantity === 'object') return quantity;
  const before = known.get(quantity);
  if (before !== undefined) return before;
  const parsed = parseQuantity(quantity);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(quantity, parsed);
  return parsed;
}

function interpretSuffix(suffix: string, written: string): { base: 2 | 10; exponent: number; format: QuantityFormat } {
  const decimal = DECIMAL_SUFFIXES.indexOf(suffix as '');
  if (decimal >= 0) return { base: 10, exponent: 3 * decimal - 9, format: 'DecimalSI' };
  const binary = BINARY_SUFFIXES.indexOf(suffix as '');
  if (binary > 0) return { base: 2, exponent: 10 * binary, format: 'BinarySI' };
  const power = /^[eE]([-+]?\d+)$/.exec(suffix);
  if (power === null) throw invalid(written, `${suffix} is not a suffix`);
  const exponent = Number(power[1]);
  if (Math.abs(exponent) > LARGEST_EXPONENT) throw invalid(written, 'the exponent is too large');
  return { base: 10, exponent, format: 'DecimalExponent' };
}

function decimalNanos(digits: bigint, exponent: number): bigint {
  const shift = exponent + 9;
  return shift >= 0 ? digits * 10n ** BigInt(shift) : divideUp(digits, 10n ** BigInt(-shift));
}

function binaryNanos(digits: bigint, decimals: number, exponent: number): bigint {
  const nanos = divideUp((digits << BigInt(exponent)) * NANO, 10n ** BigInt(decimals));
  if (nanos > LARGEST_BINARY) return LARGEST_BINARY;
  return nanos;
}

/** Whether apimachinery's parser, on its fast path, remembers the text instead of printing the amount anew. */
function isTakenAsCanonical(whole: string, fraction: string, base: 2 | 10, exponent: number, digits: bigint): boolean {
  const shifted = whole + fraction;
  if (base === 2) {
    const precision = 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1;
    return fraction === '' && precision >= 0 && (digits & 7n) !== 0n;
  }
  const scale = exponent - fraction.length;
  return shifted.length <= 18 && scale >= -9 && scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0');
}

/** Divides by a factor as often as possible, and counts how often. */
function divideOut(value: bigint, factor: bigint, most: number): [rest: bigint, times: number] {
  let rest = value;
  let times = 0;
  while (times < most && rest % factor === 0n) {
    rest /= factor;
    times++;
  }
  return [rest, times];
}

function divideUp(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  if (value % by === 0n) return quotient;
  return value > 0n ? quotient + 1n : quotient - 1n;
}

function invalid(text: string, problem: string): SpindriftError {
  return new SpindriftError('QUANTITY_INVALID', { text: JSON.stringify(text), problem });
}
