import type { Environment } from '@marcbachmann/cel-js';
import { parseQuantity } from '../../quantity.ts';

const BILLION = 1_000_000_000n;

class Quantity {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** `quantity()`, `isQuantity()` and what can be asked of a quantity. */
export function registerQuantities(env: Environment): void {
  const compare = (a: Quantity, b: Quantity): bigint => (a.nanos < b.nanos ? -1n : a.nanos > b.nanos ? 1n : 0n);
  const isInteger = (q: Quantity): boolean => q.nanos % BILLION === 0n;
  env
    .registerType('kubernetes.Quantity', { ctor: Quantity, fields: {} })
    .registerFunction('quantity(string): kubernetes.Quantity', (text: string) => {
      const nanos = parseQuantity(text);
      if (nanos === undefined) throw new Error(`quantities must match the regular expression of quantities: ${text}`);
      return new Quantity(nanos);
    })
    .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined)
    .registerFunction('kubernetes.Quantity.sign(): int', (q: Quantity) => compare(q, new Quantity(0n)))
    .registerFunction('sign(kubernetes.Quantity): int', (q: Quantity) => compare(q, new Quantity(0n)))
    .registerFunction('kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool', (a, b) => compare(a, b) > 0n)
    .registerFunction('kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool', (a, b) => compare(a, b) < 0n)
    .registerFunction('kubernetes.Quantity.compareTo(kubernetes.Quantity): int', compare)
    .registerFunction('kubernetes.Quantity.asApproximateFloat(): double', (q: Quantity) => Number(q.nanos) / 1e9)
    .registerFunction('kubernetes.Quantity.isInteger(): bool', isInteger)
    .registerFunction('kubernetes.Quantity.asInteger(): int', (q: Quantity) => {
      if (!isInteger(q)) throw new Error('cannot convert value to integer');
      return q.nanos / BILLION;
    })
    .registerFunction(
      'kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity',
      (a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos),
    )
    .registerFunction(
      'kubernetes.Quantity.add(int): kubernetes.Quantity',
      (a: Quantity, b: bigint) => new Quantity(a.nanos + b * BILLION),
    )
    .registerFunction(
      'kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity',
      (a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos),
    )
    .registerFunction(
      'kubernetes.Quantity.sub(int): kubernetes.Quantity',
      (a: Quantity, b: bigint) => new Quantity(a.nanos - b * BILLION),
    )
    .registerOperator('kubernetes.Quantity == kubernetes.Quantity', (a: Quantity, b: Quantity) => a.nanos === b.nanos);
}
