/**
 * The linear programme over known patterns: uses fractions of them so that every row's demand is covered, at the lowest
 * price. Primal simplex with an explicit basis inverse; there are a few hundred rows at most, and patterns are sparse.
 */

const EPSILON = 1e-9;

/** A way to fill a machine: rows and how much of each. */
export interface Column {
  readonly rows: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
}

/** The master problem, with columns added as they are found. */
export class Master<Filling extends Column> {
  readonly values: Float64Array;
  readonly patterns: Filling[] = [];
  readonly #rows: number;
  readonly #cost: number[] = [];
  readonly #inverse: Float64Array;
  /** Column of each basis position; -1 - row for the surplus of a row. */
  readonly #basis: Int32Array;
  readonly #amount: Float64Array;
  readonly #direction: Float64Array;
  readonly #inBasis: boolean[] = [];

  /** Starts with one pattern per row that holds nothing else, in the order of the rows. */
  constructor(demand: ArrayLike<number>, singles: readonly { pattern: Filling; cost: number }[]) {
    const rows = demand.length;
    this.#rows = rows;
    this.values = new Float64Array(rows);
    this.#inverse = new Float64Array(rows * rows);
    this.#basis = new Int32Array(rows);
    this.#amount = new Float64Array(rows);
    this.#direction = new Float64Array(rows);
    singles.forEach(({ pattern, cost }, row) => {
      this.add(pattern, cost);
      const count = pattern.counts[0] as number;
      this.#inverse[row * rows + row] = 1 / count;
      this.#basis[row] = row;
      this.#inBasis[row] = true;
      // A tiny, fixed perturbation of the demand keeps the simplex from cycling.
      this.#amount[row] = ((demand[row] as number) * (1 + 1e-7 * (((row * 37) % 101) / 101))) / count;
    });
    this.#price();
  }

  /** Adds a column. */
  add(pattern: Filling, cost: number): void {
    this.patterns.push(pattern);
    this.#cost.push(cost);
    this.#inBasis.push(false);
  }

  /** Price of the current fractional plan. */
  get cost(): number {
    let sum = 0;
    for (let k = 0; k < this.#rows; k++) {
      const column = this.#basis[k] as number;
      if (column >= 0) sum += (this.#cost[column] as number) * (this.#amount[k] as number);
    }
    return sum;
  }

  /** Makes up to `limit` pivots and returns how many were made. Fewer than the limit means optimal for the known columns. */
  improve(limit: number): number {
    for (let pivot = 0; pivot < limit; pivot++) if (!this.#pivot()) return pivot;
    return limit;
  }

  /** The fractional plan: columns and how much of each. */
  plan(): { pattern: Filling; cost: number; amount: number }[] {
    const result: { pattern: Filling; cost: number; amount: number }[] = [];
    for (let k = 0; k < this.#rows; k++) {
      const column = this.#basis[k] as number;
      const amount = this.#amount[k] as number;
      if (column < 0 || amount < 1e-6) continue;
      result.push({ pattern: this.patterns[column] as Filling, cost: this.#cost[column] as number, amount });
    }
    return result;
  }

  #price(): void {
    const rows = this.#rows;
    this.values.fill(0);
    for (let k = 0; k < rows; k++) {
      const column = this.#basis[k] as number;
      if (column < 0) continue;
      const cost = this.#cost[column] as number;
      const at = k * rows;
      for (let row = 0; row < rows; row++) {
        this.values[row] = (this.values[row] as number) + cost * (this.#inverse[at + row] as number);
      }
    }
  }

  #pivot(): boolean {
    const rows = this.#rows;
    const { values } = this;
    let entering = 0;
    let gain = EPSILON;
    let found = false;
    for (let column = 0; column < this.patterns.length; column++) {
      if (this.#inBasis[column]) continue;
      const { rows: held, counts } = this.patterns[column] as Filling;
      let reduced = -(this.#cost[column] as number);
      for (let i = 0; i < held.length; i++) reduced += (values[held[i] as number] as number) * (counts[i] as number);
      // Compares the share of its price that a column saves, so that large machines do not crowd out small ones.
      reduced /= (this.#cost[column] as number) + EPSILON;
      if (reduced > gain) {
        gain = reduced;
        entering = column;
        found = true;
      }
    }
    for (let row = 0; row < rows; row++) {
      if (-(values[row] as number) > gain) {
        gain = -(values[row] as number);
        entering = -1 - row;
        found = true;
      }
    }
    if (!found) return false;
    const direction = this.#direction;
    if (entering >= 0) {
      const { rows: held, counts } = this.patterns[entering] as Filling;
      for (let k = 0; k < rows; k++) {
        let sum = 0;
        for (let i = 0; i < held.length; i++) {
          sum += (this.#inverse[k * rows + (held[i] as number)] as number) * (counts[i] as number);
        }
        direction[k] = sum;
      }
    } else {
      const row = -1 - entering;
      for (let k = 0; k < rows; k++) direction[k] = -(this.#inverse[k * rows + row] as number);
    }
    let leaving = -1;
    let step = Number.POSITIVE_INFINITY;
    for (let k = 0; k < rows; k++) {
      const slope = direction[k] as number;
      if (slope <= EPSILON) continue;
      const limit = (this.#amount[k] as number) / slope;
      if (limit < step) {
        step = limit;
        leaving = k;
      }
    }
    if (leaving < 0) return false;
    this.#exchange(entering, leaving, Math.max(step, 0));
    return true;
  }

  #exchange(entering: number, leaving: number, step: number): void {
    const rows = this.#rows;
    const direction = this.#direction;
    const inverse = this.#inverse;
    for (let k = 0; k < rows; k++) {
      this.#amount[k] = Math.max((this.#amount[k] as number) - step * (direction[k] as number), 0);
    }
    const left = this.#basis[leaving] as number;
    if (left >= 0) this.#inBasis[left] = false;
    if (entering >= 0) this.#inBasis[entering] = true;
    this.#basis[leaving] = entering;
    this.#amount[leaving] = step;
    const scale = 1 / (direction[leaving] as number);
    const pivotRow = leaving * rows;
    for (let row = 0; row < rows; row++) inverse[pivotRow + row] = (inverse[pivotRow + row] as number) * scale;
    for (let k = 0; k < rows; k++) {
      const factor = direction[k] as number;
      if (k === leaving || factor === 0) continue;
      const at = k * rows;
      for (let row = 0; row < rows; row++) {
        inverse[at + row] = (inverse[at + row] as number) - factor * (inverse[pivotRow + row] as number);
      }
    }
    this.#price();
  }
}
