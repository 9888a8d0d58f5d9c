/** Fillings of one candidate machine with whole pods. */
import { FluidKnapsack } from './fluid-knapsack.ts';
import type { Candidate, PackProblem } from './pack-problem.ts';

/** How one machine is filled: rows and how many pods of each. */
export interface Pattern {
  readonly candidate: number;
  readonly rows: Int32Array;
  readonly counts: Int32Array;
}

/** Makes patterns for given values of the rows; keeps its workspace between calls. */
export class PatternMaker {
  readonly #pack: PackProblem;
  readonly #knapsack: FluidKnapsack;
  /** Rows of the last candidate that took part, with their shares, values and maximum numbers. */
  readonly #row: Int32Array;
  readonly #share: Float64Array;
  #length = 0;
  readonly #value: Float64Array;
  readonly #most: Float64Array;
  readonly #count: Int32Array;
  readonly #left: Float64Array;
  /** Value of the last pattern. */
  value = 0;
  /** Upper bound on the value of any pattern of the last candidate. */
  bound = 0;

  constructor(pack: PackProblem) {
    this.#pack = pack;
    const rows = pack.rows.length;
    this.#knapsack = new FluidKnapsack(rows, pack.dimensions);
    this.#row = new Int32Array(rows);
    this.#share = new Float64Array(rows * pack.dimensions);
    this.#value = new Float64Array(rows);
    this.#most = new Float64Array(rows);
    this.#count = new Int32Array(rows);
    this.#left = new Float64Array(pack.dimensions);
  }

  /** Fills a candidate with the most valuable pods, at most `demand` of each row; `get()` returns the result. */
  fill(index: number, values: Float64Array, demand: ArrayLike<number>, withBound = false): void {
    const { dimensions } = this.#pack;
    const candidate = this.#pack.candidates[index] as Candidate;
    const { rows, share: shares, fit } = candidate;
    const share = this.#share;
    const value = this.#value;
    const most = this.#most;
    // Only rows with demand left take part, moved to the front.
    let length = 0;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      const wanted = demand[row] as number;
      if (wanted === 0) continue;
      const fits = fit[i] as number;
      this.#row[length] = row;
      value[length] = values[row] as number;
      most[length] = wanted < fits ? wanted : fits;
      for (let d = 0; d < dimensions; d++) share[length * dimensions + d] = shares[i * dimensions + d] as number;
      length++;
    }
    this.#length = length;
    this.#knapsack.fill(length, share, value, most);
    if (withBound) this.bound = this.#knapsack.bound(length, share, value, most);
    this.#round(length, share, dimensions);
  }

  /** The last filling as a pattern. */
  get(index: number): Pattern {
    const count = this.#count;
    let size = 0;
    for (let i = 0; i < this.#length; i++) if ((count[i] as number) > 0) size++;
    const rows = new Int32Array(size);
    const counts = new Int32Array(size);
    for (let i = 0, at = 0; at < size; i++) {
      if ((count[i] as number) === 0) continue;
      rows[at] = this.#row[i] as number;
      counts[at++] = count[i] as number;
    }
    return { candidate: index, rows, counts };
  }

  /** The last filling before it was rounded. */
  getFluid(): { rows: number[]; counts: number[] } {
    const { amount } = this.#knapsack;
    const held: number[] = [];
    const counts: number[] = [];
    for (let i = 0; i < this.#length; i++) {
      if ((amount[i] as number) < 1e-9) continue;
      held.push(this.#row[i] as number);
      counts.push(amount[i] as number);
    }
    return { rows: held, counts };
  }

  /** Rounds the fluid filling down and fills the remaining room with the most fitting pods. */
  #round(length: number, share: Float64Array, dimensions: number): void {
    const { amount, worth } = this.#knapsack;
    const count = this.#count;
    const left = this.#left;
    left.fill(1 + 1e-12);
    let total = 0;
    for (let i = 0; i < length; i++) {
      const whole = Math.floor((amount[i] as number) + 1e-6);
      count[i] = whole;
      if (whole === 0) continue;
      total += whole * (this.#value[i] as number);
      for (let d = 0; d < dimensions; d++)
        left[d] = (left[d] as number) - whole * (share[i * dimensions + d] as number);
    }
    for (;;) {
      let best = -1;
      let bestScore = 0;
      for (let i = 0; i < length; i++) {
        const each = this.#value[i] as number;
        if (each <= 0 || (count[i] as number) >= (this.#most[i] as number)) continue;
        let cost = 1e-12;
        let fits = true;
        for (let d = 0; d < dimensions; d++) {
          const takes = share[i * dimensions + d] as number;
          if (takes > (left[d] as number)) {
            fits = false;
            break;
          }
          cost += takes * (worth[d] as number);
        }
        if (!fits) continue;
        const ratio = each / cost;
        const score = each * (ratio < 1 ? ratio : 1);
        if (score > bestScore) {
          best = i;
          bestScore = score;
        }
      }
      if (best < 0) break;
      let times = (this.#most[best] as number) - (count[best] as number);
      for (let d = 0; d < dimensions; d++) {
        const takes = share[best * dimensions + d] as number;
        if (takes > 0) times = Math.min(times, Math.floor((left[d] as number) / takes));
      }
      times = Math.max(1, times);
      count[best] = (count[best] as number) + times;
      total += times * (this.#value[best] as number);
      for (let d = 0; d < dimensions; d++) {
        left[d] = (left[d] as number) - times * (share[best * dimensions + d] as number);
      }
    }
    this.value = total;
  }
}
