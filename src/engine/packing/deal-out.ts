/**
 * Assigns real pods to the machines of a cover whose rows stand for nearly equal pods. Each machine gets pods that balance
 * the deviations of the previous ones from the average, so that nearly all fit. Pods that are too much go where there is
 * room, and machines are added for the rest.
 */
import { type Cover, greedyCover } from './greedy-cover.ts';
import { type LoadedMachine, LoadedMachines } from './loaded-machines.ts';
import type { Candidate, FineRows, PackProblem } from './pack-problem.ts';
import { type Pattern, PatternMaker } from './pattern.ts';
import type { Purse } from './purse.ts';
import { sizesOf } from './sizes.ts';
import type { Slices, Work } from './work.ts';

/** Rows compared for a place on a machine. */
const COMPARED = 48;

/** Assigns the pods of a packing problem; uses up the purse. */
export function* dealOut(
  pack: PackProblem,
  fine: FineRows,
  cover: Cover,
  values: Float64Array,
  purse: Purse,
  work: Work,
): Slices<LoadedMachines> {
  const dealer = new Dealer(pack, fine, work);
  const maker = new PatternMaker(pack);
  let next = cover;
  for (let index = 0; index < cover.patterns.length; index++) {
    const { candidate } = cover.patterns[index] as Pattern;
    purse.take((pack.candidates[candidate] as Candidate).option, cover.times[index] as number);
  }
  for (;;) {
    yield* dealer.deal(next);
    yield* dealer.fillUp();
    const demand = dealer.demand();
    if (demand.every((count) => count === 0)) break;
    next = yield* greedyCover(pack, maker, values, demand, purse, work);
    if (next.patterns.length === 0) break;
  }
  return dealer.result;
}

class Dealer {
  readonly result: LoadedMachines;
  readonly #pack: PackProblem;
  readonly #fine: FineRows;
  readonly #work: Work;
  /** By row of the packing problem: its fine rows that have pods left. */
  readonly #stock: number[][];
  readonly #order: Int32Array;
  readonly #off: Float64Array;

  constructor(pack: PackProblem, fine: FineRows, work: Work) {
    this.result = new LoadedMachines(pack, fine);
    this.#pack = pack;
    this.#fine = fine;
    this.#work = work;
    this.#stock = pack.rows.map(() => []);
    this.#off = new Float64Array(pack.dimensions);
    const size = sizesOf(pack.rowRequests, pack.dimensions, pack.rows);
    // Large pods first: small ones balance the rest.
    this.#order = Int32Array.from(pack.rows.keys()).sort((a, b) => (size[b] as number) - (size[a] as number) || a - b);
  }

  /** Pods without a place, by row of the packing problem. */
  demand(): Int32Array {
    const demand = new Int32Array(this.#pack.rows.length);
    this.result.left.forEach((count, row) => {
      const cluster = this.#fine.rowOf[row] as number;
      demand[cluster] = (demand[cluster] as number) + count;
    });
    return demand;
  }

  /** Fills the machines of a cover. */
  *deal(cover: Cover): Slices<void> {
    const { result } = this;
    for (const list of this.#stock) list.length = 0;
    result.left.forEach((count, row) => {
      if (count > 0) this.#stock[this.#fine.rowOf[row] as number]?.push(row);
    });
    const wanted = new Int32Array(this.#pack.rows.length);
    for (let index = 0; index < cover.patterns.length; index++) {
      const { candidate, rows, counts } = cover.patterns[index] as Pattern;
      for (let time = 0; time < (cover.times[index] as number); time++) {
        rows.forEach((row, at) => {
          wanted[row] = counts[at] as number;
        });
        const machine = result.empty(candidate);
        this.#off.fill(0);
        for (const row of this.#order) {
          for (; (wanted[row] as number) > 0; wanted[row] = (wanted[row] as number) - 1) this.#give(machine, row);
        }
        this.#relieve(machine);
        result.machines.push(machine);
        if (this.#work.spend(machine.pods.length * 20 + this.#order.length * 0.1)) yield;
      }
    }
  }

  /** Gives a machine the pod of a row that brings its load closest to the average of its pods. */
  #give(machine: LoadedMachine, row: number): void {
    const { dimensions, rowRequests } = this.#pack;
    const { requests } = this.#fine;
    const capacity = this.result.capacityOf(machine);
    const stock = this.#stock[row] as number[];
    const off = this.#off;
    let best = -1;
    let bestDistance = Number.POSITIVE_INFINITY;
    for (let at = Math.max(0, stock.length - COMPARED); at < stock.length; at++) {
      let distance = 0;
      for (let column = 0; column < dimensions; column++) {
        const each = requests[(stock[at] as number) * dimensions + column] as number;
        const has = capacity[column] as number;
        if (each === 0 || has <= 0) continue;
        const error = (off[column] as number) + (each - (rowRequests[row * dimensions + column] as number)) / has;
        distance += error * error;
      }
      if (distance < bestDistance) {
        best = at;
        bestDistance = distance;
      }
    }
    if (best < 0) return;
    const chosen = stock[best] as number;
    for (let column = 0; column < dimensions; column++) {
      const has = capacity[column] as number;
      if (has <= 0) continue;
      const more =
        (requests[chosen * dimensions + column] as number) - (rowRequests[row * dimensions + column] as number);
      off[column] = (off[column] as number) + more / has;
    }
    this.result.put(machine, chosen);
    if (this.result.left[chosen] === 0) {
      stock[best] = stock[stock.length - 1] as number;
      stock.pop();
    }
  }

  /** Takes pods off a machine until the others fit: the smallest that is enough, or else the largest. */
  #relieve(machine: LoadedMachine): void {
    const { result } = this;
    const { dimensions } = this.#pack;
    const { requests } = this.#fine;
    const capacity = result.capacityOf(machine);
    const { load, pods } = machine;
    for (;;) {
      let over = false;
      for (let column = 0; column < dimensions; column++) {
        if ((load[column] as number) > (capacity[column] as number) && (load[column] as number) > 0) over = true;
      }
      if (!over || pods.length === 0) return;
      let best = -1;
      let bestSize = 0;
      let bestEnough = false;
      for (let position = 0; position < pods.length; position++) {
        let enough = true;
        let size = 0;
        for (let column = 0; column < dimensions; column++) {
          const each = requests[(pods[position] as number) * dimensions + column] as number;
          const has = capacity[column] as number;
          if ((load[column] as number) - each > has) enough = false;
          if (has > 0) size += each / has;
        }
        if (best < 0 || (enough && !bestEnough) || (enough === bestEnough && enough === size < bestSize)) {
          best = position;
          bestSize = size;
          bestEnough = enough;
        }
      }
      result.take(machine, best);
    }
  }

  /** Puts pods without a place where they leave the least room, the largest first. */
  *fillUp(): Slices<void> {
    const { result } = this;
    const { dimensions } = this.#pack;
    const size = sizesOf(this.#fine.requests, dimensions, this.#fine.rows);
    const open: number[] = [];
    result.left.forEach((count, row) => {
      if (count > 0) open.push(row);
    });
    open.sort((a, b) => (size[b] as number) - (size[a] as number) || a - b);
    for (const row of open) {
      while ((result.left[row] as number) > 0) {
        let best: LoadedMachine | undefined;
        let fullest = -1;
        for (const machine of result.machines) {
          if (!result.holds(machine.candidate, row)) continue;
          const full = result.fullnessWith(machine, row);
          if (full <= fullest) continue;
          best = machine;
          fullest = full;
        }
        if (this.#work.spend(result.machines.length * 0.2)) yield;
        if (best === undefined) break;
        result.put(best, row);
      }
    }
  }
}
