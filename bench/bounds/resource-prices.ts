/**
 * What a unit of each resource is worth at most if no machine may hold more than it costs: a linear programme in a handful of variables,
 * solved by trying all corners of the few machines that matter. Plain on purpose: it judges the engine and shares nothing with it.
 */

/** A machine that can be bought in any number. */
export interface Machine {
  readonly price: number;
  readonly has: readonly number[];
}

/** The prices that value the demand highest. Amounts should be of one magnitude; a good guess of the machines that matter saves time. */
export function resourcePrices(
  machines: readonly Machine[],
  demand: readonly number[],
  guess: readonly Machine[] = [],
): number[] {
  const chosen = [...guess];
  let prices = guess.length === 0 ? demand.map(() => Number.POSITIVE_INFINITY) : bestCorner(chosen, demand);
  for (;;) {
    const worst = mostUnderpaid(machines, prices);
    if (worst === undefined || chosen.includes(worst)) return prices;
    chosen.push(worst);
    prices = bestCorner(chosen, demand);
  }
}

/** The machine that holds most beyond its price. */
function mostUnderpaid(machines: readonly Machine[], prices: readonly number[]): Machine | undefined {
  let worst: Machine | undefined;
  let most = 1 + 1e-9;
  for (const machine of machines) {
    const ratio = worthOf(prices, machine.has) / machine.price;
    if (ratio <= most) continue;
    worst = machine;
    most = ratio;
  }
  return worst;
}

/** The machines that are worth their price. */
export function machinesThatMatter(machines: readonly Machine[], prices: readonly number[]): Machine[] {
  return machines.filter(({ price, has }) => worthOf(prices, has) > price * (1 - 1e-7));
}

/** What an amount of resources is worth; what there is none of is worth nothing at any price. */
export function worthOf(prices: readonly number[], amounts: readonly number[]): number {
  return amounts.reduce((sum, amount, index) => (amount === 0 ? sum : sum + amount * (prices[index] as number)), 0);
}

/** The best of all corners: each of as many conditions as there are resources holds exactly. */
function bestCorner(machines: readonly Machine[], demand: readonly number[]): number[] {
  const size = demand.length;
  const conditions = [
    ...machines.map(({ price, has }) => ({ left: price, amounts: has })),
    ...demand.map((_, index) => ({ left: 0, amounts: demand.map((__, column) => (column === index ? 1 : 0)) })),
  ];
  let best = demand.map(() => Number.POSITIVE_INFINITY);
  let most = Number.NEGATIVE_INFINITY;
  for (const subset of subsets(conditions.length, size)) {
    const corner = solved(subset.map((index) => conditions[index] as (typeof conditions)[0]));
    if (corner === undefined || corner.some((price) => price < -1e-12)) continue;
    if (machines.some(({ price, has }) => worthOf(corner, has) > price * (1 + 1e-9))) continue;
    const value = worthOf(corner, demand);
    if (value <= most) continue;
    most = value;
    best = corner.map((price) => Math.max(0, price));
  }
  // Nothing bounds the price of a resource that no machine so far has: the next ones will.
  const unbounded = demand.map(
    (amount, index) => amount > 0 && machines.every(({ has }) => (has[index] as number) <= 0),
  );
  return best.map((price, index) => (unbounded[index] === true ? Number.POSITIVE_INFINITY : price));
}

function* subsets(count: number, size: number, from = 0): Generator<number[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (let first = from; first <= count - size; first++) {
    for (const rest of subsets(count, size - 1, first + 1)) yield [first, ...rest];
  }
}

/** Solves as many equations as there are unknowns; undefined when they are not independent. */
function solved(equations: readonly { left: number; amounts: readonly number[] }[]): number[] | undefined {
  const rows = equations.map(({ left, amounts }) => [...amounts, left]);
  const size = rows.length;
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++) {
      if (Math.abs(rows[row]?.[column] as number) > Math.abs(rows[pivot]?.[column] as number)) pivot = row;
    }
    const chosen = rows[pivot] as number[];
    const by = chosen[column] as number;
    if (Math.abs(by) < 1e-12) return undefined;
    rows[pivot] = rows[column] as number[];
    rows[column] = chosen.map((amount) => amount / by);
    for (let row = 0; row < size; row++) {
      const times = rows[row]?.[column] as number;
      if (row === column || times === 0) continue;
      rows[row] = (rows[row] as number[]).map((amount, at) => amount - times * (rows[column]?.[at] as number));
    }
  }
  return rows.map((row) => row[size] as number);
}
