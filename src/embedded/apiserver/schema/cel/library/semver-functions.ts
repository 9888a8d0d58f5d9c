import type { Environment } from '@marcbachmann/cel-js';

class Semver {
  readonly numbers: readonly bigint[];
  readonly pre: readonly string[];
  constructor(numbers: readonly bigint[], pre: readonly string[]) {
    this.numbers = numbers;
    this.pre = pre;
  }
}

const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** Completes `v1.2` to `1.2.0` and drops leading zeros. */
function normalise(text: string): string {
  const [, version = '', rest = ''] = /^v?([\d.]*)(.*)$/.exec(text) ?? [];
  const parts = version.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (parts.length < 3) parts.push('0');
  return `${parts.join('.')}${rest}`;
}

function parse(text: string, lenient = false): Semver | undefined {
  const match = SEMVER.exec(lenient ? normalise(text) : text);
  if (match === null) return undefined;
  const [, major = '', minor = '', patch = '', pre] = match;
  return new Semver([BigInt(major), BigInt(minor), BigInt(patch)], pre === undefined ? [] : pre.split('.'));
}

function toSemver(text: string, lenient = false): Semver {
  const version = parse(text, lenient);
  if (version === undefined) throw new Error(`invalid semver: ${text}`);
  return version;
}

function comparePart(a: string, b: string): bigint {
  const [numericA, numericB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (numericA && numericB) return BigInt(Math.sign(Number(a) - Number(b)));
  if (numericA !== numericB) return numericA ? -1n : 1n;
  return a < b ? -1n : a > b ? 1n : 0n;
}

function compare(a: Semver, b: Semver): bigint {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] as bigint;
    if (number !== other) return number < other ? -1n : 1n;
  }
  if (a.pre.length === 0 || b.pre.length === 0) return BigInt(Math.sign(b.pre.length - a.pre.length));
  for (const [index, part] of a.pre.entries()) {
    const other = b.pre[index];
    if (other === undefined) return 1n;
    const order = comparePart(part, other);
    if (order !== 0n) return order;
  }
  return a.pre.length < b.pre.length ? -1n : 0n;
}

/** `semver()`, `isSemver()` and comparisons of versions. */
export function registerSemver(env: Environment): void {
  env
    .registerType('kubernetes.Semver', { ctor: Semver, fields: {} })
    .registerFunction('semver(string): kubernetes.Semver', (text: string) => toSemver(text))
    .registerFunction('semver(string, bool): kubernetes.Semver', toSemver)
    .registerFunction('isSemver(string): bool', (text: string) => parse(text) !== undefined)
    .registerFunction('isSemver(string, bool): bool', (text, lenient) => parse(text, lenient) !== undefined)
    .registerFunction('kubernetes.Semver.isGreaterThan(kubernetes.Semver): bool', (a, b) => compare(a, b) > 0n)
    .registerFunction('kubernetes.Semver.isLessThan(kubernetes.Semver): bool', (a, b) => compare(a, b) < 0n)
    .registerFunction('kubernetes.Semver.compareTo(kubernetes.Semver): int', compare)
    .registerFunction('kubernetes.Semver.major(): int', (version: Semver) => version.numbers[0])
    .registerFunction('kubernetes.Semver.minor(): int', (version: Semver) => version.numbers[1])
    .registerFunction('kubernetes.Semver.patch(): int', (version: Semver) => version.numbers[2])
    .registerOperator('kubernetes.Semver == kubernetes.Semver', (a: Semver, b: Semver) => compare(a, b) === 0n);
}
