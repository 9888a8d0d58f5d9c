import type { Environment } from '@marcbachmann/cel-js';
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityOf,
  subtractQuantities,
} from '../../../../../apis/kubernetes/quantity.ts';

const BILLION = 1_000_000_000n;
const TYPE = 'kubernetes.Quantity';

/** A quantity as a CEL value. CEL recognizes types by their class. */
class QuantityValue {
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

const compare = (a: QuantityValue, b: QuantityValue): bigint =>
  BigInt(Math.sign(compareQuantities(a.quantity, b.quantity)));
const isInteger = ({ quantity }: QuantityValue): boolean => quantity.nanos % BILLION === 0n;
const sign = (value: QuantityValue): bigint => compare(value, new QuantityValue(quantityOf(0n)));

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch {
    return false;
  }
}

function asInteger(value: QuantityValue): bigint {
  if (!isInteger(value)) throw new Error('cannot convert value to integer');
  return value.quantity.nanos / BILLION;
}

/** `quantity()`, `isQuantity()` and the methods of a quantity. */
export function registerQuantities(env: Environment): void {
  env
    .registerType(TYPE, { ctor: QuantityValue, fields: {} })
    .registerFunction(`quantity(string): ${TYPE}`, (text: string) => new QuantityValue(parseQuantity(text)))
    .registerFunction('isQuantity(string): bool', isQuantity)
    .registerFunction(`sign(${TYPE}): int`, sign)
    .registerFunction(`${TYPE}.isGreaterThan(${TYPE}): bool`, (a, b) => compare(a, b) > 0n)
    .registerFunction(`${TYPE}.isLessThan(${TYPE}): bool`, (a, b) => compare(a, b) < 0n)
    .registerFunction(`${TYPE}.compareTo(${TYPE}): int`, compare)
    .registerFunction(`${TYPE}.asApproximateFloat(): double`, (a: QuantityValue) => Number(a.quantity.nanos) / 1e9)
    .registerFunction(`${TYPE}.isInteger(): bool`, isInteger)
    .registerFunction(`${TYPE}.asInteger(): int`, asInteger)
    .registerOperator(`${TYPE} == ${TYPE}`, (a: QuantityValue, b: QuantityValue) => compare(a, b) === 0n);
  for (const [name, change] of [
    ['add', addQuantities],
    ['sub', subtractQuantities],
  ] as const) {
    env
      .registerFunction(
        `${TYPE}.${name}(${TYPE}): ${TYPE}`,
        (a: QuantityValue, b: QuantityValue) => new QuantityValue(change(a.quantity, b.quantity)),
      )
      .registerFunction(
        `${TYPE}.${name}(int): ${TYPE}`,
        (a: QuantityValue, b: bigint) => new QuantityValue(change(a.quantity, quantityOf(b))),
      );
  }
}
