/**
 * The best filling of one machine if pods may be split: maximises the value within each resource, with a limited number of
 * each row. A simplex with one constraint per resource and upper bounds on the variables. There are only a few resources,
 * so the basis inverse is tiny. Its value is an upper bound for every whole filling.
 */

const EPSILON = 1e-9;
const MAX_PIVOTS = 80;

/** Workspace for fillings of up to `rows` rows and `dimensions` resources. */
export class FluidKnapsack {
  /** Amount of each row in the last filling, by position. */
  readonly amount: Float64Array;
  /** The value of one unit of each resource in the last filling (for capacities scaled to 1). */
  readonly worth: Float64Array;
  /** Value of the last filling. */
  value = 0;

  readonly #dimensions: number;
  readonly #inverse: Float64Array;
  readonly #basis: Int32Array;
  readonly #basic: Float64Array;
  readonly #direction: Float64Array;
  readonly #state: Int8Array;
  /** What one more (or, for a full row, one less) of each row would gain at the current resource values; none for rows of the basis. */
  readonly #gain: Float64Array;

  constructor(rows: number, dimensions: number) {
    this.#dimensions = dimensions;
    this.amount = new Float64Array(rows);
    this.worth = new Float64Array(dimensions);
    this.#inverse = new Float64Array(dimensions * dimensions);
    this.#basis = new Int32Array(dimensions);
    this.#basic = new Float64Array(dimensions);
    this.#direction = new Float64Array(dimensions);
    this.#state = new Int8Array(rows);
    this.#gain = new Float64Array(rows);
  }

  /**
   * Fills a machine. `share[i * dimensions + d]` is the share of the machine's resource d that a pod of row i takes,
   * `most[i]` the maximum number of its pods.
   */
  fill(count: number, share: Float64Array, value: Float64Array, most: Float64Array): void {
    const size = this.#dimensions;
    const { amount, worth } = this;
    const inverse = this.#inverse;
    const basis = this.#basis;
    const basic = this.#basic;
    const direction = this.#direction;
    const state = this.#state;
    const gains = this.#gain;
    inverse.fill(0);
    for (let d = 0; d < size; d++) {
      inverse[d * size + d] = 1;
      basis[d] = -1 - d;
      basic[d] = 1;
      worth[d] = 0;
    }
    for (let i = 0; i < count; i++) {
      amount[i] = 0;
      state[i] = 0;
      gains[i] = value[i] as number;
    }
    for (let pivot = 0; pivot < MAX_PIVOTS; pivot++) {
      // The row (or slack, as -1 - d) whose change gains most per unit.
      let entering = 0;
      let gain = EPSILON;
      let found = false;
      for (let i = 0; i < count; i++) {
        if ((gains[i] as number) > gain) {
          gain = gains[i] as number;
          entering = i;
          found = true;
        }
      }
      for (let d = 0; d < size; d++) {
        if (-(worth[d] as number) > gain && !this.#slackIsBasic(d)) {
          gain = -(worth[d] as number);
          entering = -1 - d;
          found = true;
        }
      }
      if (!found) break;
      const falling = entering >= 0 && state[entering] === 1;
      for (let k = 0; k < size; k++) {
        let sum = 0;
        if (entering >= 0) {
          for (let d = 0; d < size; d++) {
            sum += (inverse[k * size + d] as number) * (share[entering * size + d] as number);
          }
        } else sum = inverse[k * size + (-1 - entering)] as number;
        direction[k] = falling ? -sum : sum;
      }
      let step = entering >= 0 ? (most[entering] as number) : Number.POSITIVE_INFINITY;
      let leaving = -1;
      for (let k = 0; k < size; k++) {
        const slope = direction[k] as number;
        if (slope > EPSILON) {
          const limit = (basic[k] as number) / slope;
          if (limit < step) {
            step = limit;
            leaving = k;
          }
        } else if (slope < -EPSILON) {
          const variable = basis[k] as number;
          if (variable < 0) continue;
          const limit = ((most[variable] as number) - (basic[k] as number)) / -slope;
          if (limit < step) {
            step = limit;
            leaving = k;
          }
        }
      }
      if (step === Number.POSITIVE_INFINITY) break;
      if (step < 0) step = 0;
      for (let k = 0; k < size; k++) basic[k] = (basic[k] as number) - step * (direction[k] as number);
      if (leaving < 0) {
        // The row is emptied or filled up without a change of the basis, so the resource values and all other gains stay the same.
        state[entering] = falling ? 0 : 1;
        gains[entering] = -(gains[entering] as number);
        continue;
      }
      const left = basis[leaving] as number;
      if (left >= 0) state[left] = (direction[leaving] as number) > 0 ? 0 : 1;
      basis[leaving] = entering;
      basic[leaving] = falling ? (most[entering] as number) - step : step;
      if (entering >= 0) state[entering] = 2;
      const scale = falling ? -(direction[leaving] as number) : (direction[leaving] as number);
      for (let d = 0; d < size; d++) {
        inverse[leaving * size + d] = (inverse[leaving * size + d] as number) / scale;
      }
      for (let k = 0; k < size; k++) {
        if (k === leaving) continue;
        const factor = falling ? -(direction[k] as number) : (direction[k] as number);
        if (factor === 0) continue;
        for (let d = 0; d < size; d++) {
          inverse[k * size + d] = (inverse[k * size + d] as number) - factor * (inverse[leaving * size + d] as number);
        }
      }
      this.#price(count, share, value);
    }
    let total = 0;
    for (let i = 0; i < count; i++) if (state[i] === 1) amount[i] = most[i] as number;
    for (let k = 0; k < size; k++) {
      const variable = basis[k] as number;
      if (variable >= 0) amount[variable] = Math.max(basic[k] as number, 0);
    }
    for (let i = 0; i < count; i++) total += (amount[i] as number) * (value[i] as number);
    this.value = total;
  }

  /**
   * An upper bound on the value of any filling, from the resource values alone. It holds even if the pivots ran out or
   * with rounding errors.
   */
  bound(count: number, share: Float64Array, value: Float64Array, most: Float64Array): number {
    const size = this.#dimensions;
    let total = 0;
    for (let d = 0; d < size; d++) {
      if ((this.worth[d] as number) < 0) this.worth[d] = 0;
      total += this.worth[d] as number;
    }
    for (let i = 0; i < count; i++) {
      let reduced = value[i] as number;
      for (let d = 0; d < size; d++) reduced -= (this.worth[d] as number) * (share[i * size + d] as number);
      if (reduced > 0) total += reduced * (most[i] as number);
    }
    return total;
  }

  /** Computes resource values and gains after a change of the basis. */
  #price(count: number, share: Float64Array, value: Float64Array): void {
    const size = this.#dimensions;
    const { worth } = this;
    for (let d = 0; d < size; d++) {
      let sum = 0;
      for (let k = 0; k < size; k++) {
        const variable = this.#basis[k] as number;
        if (variable >= 0) sum += (value[variable] as number) * (this.#inverse[k * size + d] as number);
      }
      worth[d] = sum;
    }
    const gains = this.#gain;
    for (let i = 0; i < count; i++) gains[i] = value[i] as number;
    for (let d = 0; d < size; d++) {
      const each = worth[d] as number;
      // Most machines run out of one or two resources; the others have no value.
      if (each === 0) continue;
      for (let i = 0, at = d; i < count; i++, at += size) {
        gains[i] = (gains[i] as number) - each * (share[at] as number);
      }
    }
    for (let i = 0; i < count; i++) {
      if (this.#state[i] === 1) gains[i] = -(gains[i] as number);
      else if (this.#state[i] === 2) gains[i] = Number.NEGATIVE_INFINITY;
    }
  }

  #slackIsBasic(d: number): boolean {
    for (let k = 0; k < this.#dimensions; k++) if (this.#basis[k] === -1 - d) return true;
    return false;
  }
}
