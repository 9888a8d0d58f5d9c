/**
 * The value of a unit of each resource: the highest prices at which no machine holds more value than it costs. They show
 * which nodes are cheap for the pods they hold, and give a lower bound on the price of any fleet.
 */
import type { Model } from './compile/model.ts';

const TINY = 1e-12;

/** The lowest price of each template. */
export type CheapestOffers = ReadonlyMap<number, number>;

/** Prices by resource column that give `demand` the highest value, using only options that `isSold` admits. */
export function unitPrices(
  model: Model,
  demand: Float64Array,
  isSold: (option: number) => boolean = () => true,
): Float64Array {
  return pricesFor(model, demand, cheapestOffers(model, isSold));
}

/** The lowest price of each template among the options that `isSold` admits; reservations do not count. */
export function cheapestOffers({ catalogue }: Model, isSold: (option: number) => boolean): CheapestOffers {
  const cheapest = new Map<number, number>();
  for (let option = 0; option < catalogue.optionCount; option++) {
    if ((catalogue.optionReservation[option] as number) >= 0 || !isSold(option)) continue;
    const template = catalogue.optionTemplate[option] as number;
    const price = catalogue.optionPrice[option] as number;
    if (price < (cheapest.get(template) ?? Number.POSITIVE_INFINITY)) cheapest.set(template, price);
  }
  return cheapest;
}

/** Prices by resource column that give `demand` the highest value, using only these offers. */
export function pricesFor(model: Model, demand: Float64Array, offers: CheapestOffers): Float64Array {
  const { catalogue, dimensions } = model;
  const { size } = dimensions;
  const priced: number[] = [];
  for (let column = 0; column < size; column++) {
    if ((demand[column] as number) > 0 && !dimensions.isAttachment(column)) priced.push(column);
  }
  // Scales columns by the demand, so that all have the same magnitude and the objective is their sum.
  const rows = [...offers].map(([template, price]) => ({
    left: price,
    amounts: Float64Array.from(priced, (column) =>
      Math.max(0, (catalogue.alloc[template * size + column] as number) / (demand[column] as number)),
    ),
  }));
  const scaled = maximiseSum(rows, priced.length);
  const result = new Float64Array(size);
  priced.forEach((column, index) => {
    result[column] = (scaled[index] as number) / (demand[column] as number);
  });
  return result;
}

/** Finds the x ≥ 0 with the largest sum for which every row's amounts · x ≤ left: the simplex method on a condensed tableau. */
function maximiseSum(rows: { left: number; amounts: Float64Array }[], size: number): Float64Array {
  const gain = new Float64Array(size).fill(1);
  const columnVariable = Int32Array.from({ length: size }, (_, index) => index);
  const rowVariable = Int32Array.from(rows, (_, index) => size + index);
  for (let round = 0; round < 50 * size; round++) {
    let enter = -1;
    for (let column = 0; column < size; column++) {
      if ((gain[column] as number) > TINY && (enter < 0 || (gain[column] as number) > (gain[enter] as number)))
        enter = column;
    }
    if (enter < 0) break;
    let leave = -1;
    let least = Number.POSITIVE_INFINITY;
    rows.forEach(({ left, amounts }, index) => {
      const amount = amounts[enter] as number;
      if (amount > TINY && left / amount < least) {
        least = left / amount;
        leave = index;
      }
    });
    // No offer has the resource, so it has no price.
    if (leave < 0) {
      gain[enter] = 0;
      continue;
    }
    pivot(rows, gain, leave, enter);
    [columnVariable[enter], rowVariable[leave]] = [rowVariable[leave] as number, columnVariable[enter] as number];
  }
  const result = new Float64Array(size);
  rowVariable.forEach((variable, index) => {
    if (variable < size) result[variable] = Math.max(0, rows[index]?.left ?? 0);
  });
  return result;
}

function pivot(
  rows: readonly { left: number; amounts: Float64Array }[],
  gain: Float64Array,
  leave: number,
  enter: number,
): void {
  const pivotRow = rows[leave] as { left: number; amounts: Float64Array };
  const by = pivotRow.amounts[enter] as number;
  pivotRow.left /= by;
  for (let column = 0; column < gain.length; column++) {
    pivotRow.amounts[column] = column === enter ? 1 / by : (pivotRow.amounts[column] as number) / by;
  }
  const subtract = (amounts: Float64Array): number => {
    const times = amounts[enter] as number;
    for (let column = 0; column < gain.length; column++) {
      amounts[column] =
        (column === enter ? 0 : (amounts[column] as number)) - times * (pivotRow.amounts[column] as number);
    }
    return times;
  };
  for (const row of rows) {
    if (row === pivotRow) continue;
    row.left -= subtract(row.amounts) * pivotRow.left;
  }
  subtract(gain);
}

/** The value of an amount of resources. */
export function worth(prices: Float64Array, amounts: ArrayLike<number>, row = 0): number {
  let sum = 0;
  for (let column = 0; column < prices.length; column++) {
    sum += (prices[column] as number) * (amounts[row + column] as number);
  }
  return sum;
}
