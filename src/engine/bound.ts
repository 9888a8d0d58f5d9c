/**
 * Lower bounds on the price of the pods on new nodes. Both hold for any plan. One assumes that pods can be split over
 * machines (`fluidBound`). The other gives each pod a value: if no machine can hold pods worth more than its price, no
 * plan costs less than the total value of its pods.
 */
import type { Model, PodClass } from './compile/model.ts';
import type { Construction } from './construct.ts';
import { fluidBound } from './fluid-bound.ts';
import { Market } from './packing/market.ts';
import { type Column, Master } from './packing/master.ts';
import { buildPackProblem, type Candidate, type PackProblem, type RowPart } from './packing/pack-problem.ts';
import { PatternMaker } from './packing/pattern.ts';
import { Purse } from './packing/purse.ts';
import type { Slices, Work } from './packing/work.ts';
import { orderedSteps } from './requirements/ordered-steps.ts';

/** Rounds of column generation for the bound. */
const MAX_ROUNDS = 200;

/** A lower bound on the price of any plan that puts the same pods on new nodes. `worth` is a guess of the value of a pod, by class. */
export function* lowerBound(construction: Construction, worth: Float64Array | undefined, work: Work): Slices<number> {
  const { state } = construction;
  const { model } = state;
  const bought = new Int32Array(model.classes.length);
  for (let node = state.existingCount; node < state.nodeCount; node++) {
    const contents = state.contents[node] as number[];
    for (let at = 0; at < contents.length; at += 2) {
      const index = contents[at] as number;
      bought[index] = (bought[index] as number) + (contents[at + 1] as number);
    }
  }
  const fluid = fluidBound(model, bought);
  yield;
  return worth === undefined ? fluid : Math.max(fluid, yield* valueBound(model, bought, worth, work));
}

/**
 * Farley's bound: scales the values down until no machine holds more value than it costs. For reservations, the value held
 * beyond the price is subtracted once per slot.
 */
function* valueBound(model: Model, bought: Int32Array, worth: Float64Array, work: Work): Slices<number> {
  const parts: RowPart[] = model.classes
    .filter(({ index }) => (bought[index] as number) > 0)
    .map((podClass) => ({
      podClass,
      filter: widestFilter(podClass),
      cell: -1,
      count: bought[podClass.index] as number,
    }));
  if (parts.length === 0) return 0;
  // Alternatives that are tried in order have no common filter; the bound would have to consider each of them.
  if (parts.some(({ filter }) => filter < 0)) return 0;
  const pack = buildPackProblem(model, new Market(model, new Purse(model)), parts, {
    ladder: Number.POSITIVE_INFINITY,
    relaxed: true,
  });
  yield;
  const values = new Float64Array(pack.rows.length);
  const demand = Int32Array.from(pack.rows, (row) => row.demand);
  parts.forEach(({ podClass, count }, index) => {
    const row = pack.rowOfPart[index] as number;
    if (row >= 0)
      values[row] = (values[row] as number) + ((worth[podClass.index] as number) * count) / (demand[row] as number);
  });
  const search = new BoundSearch(model, pack, demand);
  yield* search.try(values, work);
  yield* search.improve(work);
  return search.best;
}

/** Searches for pod values that give a high bound: those of the linear programme in which pods may be split. */
class BoundSearch {
  best = 0;
  readonly #model: Model;
  readonly #pack: PackProblem;
  readonly #demand: Int32Array;
  readonly #maker: PatternMaker;
  /** Machine fillings of the last try that are worth more than their price. */
  #found: { column: Column; price: number }[] = [];

  constructor(model: Model, pack: PackProblem, demand: Int32Array) {
    this.#model = model;
    this.#pack = pack;
    this.#demand = demand;
    this.#maker = new PatternMaker(pack);
  }

  /** Computes the bound for these values and keeps the best. */
  *try(values: Float64Array, work: Work): Slices<void> {
    const { optionReservation, reservationSlots } = this.#model.catalogue;
    const { candidates, rows } = this.#pack;
    this.#found = [];
    let factor = 0;
    const held: { reservation: number; bound: number; price: number }[] = [];
    for (let index = 0; index < candidates.length; index++) {
      const { option, price } = candidates[index] as Candidate;
      this.#maker.fill(index, values, this.#demand, true);
      const { bound } = this.#maker;
      const reservation = optionReservation[option] as number;
      if (reservation < 0) factor = Math.max(factor, bound / Math.max(price, 1e-12));
      else held.push({ reservation, bound, price });
      if (reservation < 0 && bound > price * (1 + 1e-7)) this.#found.push({ column: this.#maker.getFluid(), price });
      if (work.spend(rows.length)) yield;
    }
    if (factor === 0) return;
    let total = 0;
    for (let row = 0; row < values.length; row++) total += (values[row] as number) * (this.#demand[row] as number);
    // Allows for the rounding error of a sum of many products.
    let bound = (total / factor) * (1 - 1e-9);
    const excess = new Float64Array(reservationSlots.length);
    for (const { reservation, bound: worth, price } of held) {
      excess[reservation] = Math.max(excess[reservation] as number, worth / factor - price);
    }
    excess.forEach((amount, reservation) => {
      bound -= amount * (reservationSlots[reservation] as number);
    });
    this.best = Math.max(this.best, bound);
  }

  /** Column generation with split pods, until nothing is gained or the time is up. */
  *improve(work: Work): Slices<void> {
    const singles = this.#singles();
    if (singles === undefined) return;
    const master = new Master<Column>(this.#demand, singles);
    for (let round = 0; round < MAX_ROUNDS && !work.over(0.95); round++) {
      const cost = this.#demand.length * this.#demand.length * 0.02 + master.patterns.length * 0.1;
      while (master.improve(16) === 16 && !work.over(0.95)) {
        if (work.spend(16 * cost)) yield;
      }
      yield* this.try(
        master.values.map((value) => Math.max(value, 0)),
        work,
      );
      if (this.#found.length === 0 || this.best >= master.cost * (1 - 1e-4)) return;
      for (const { column, price } of this.#found) master.add(column, price);
    }
  }

  /** For each row the cheapest machine filled with that row only; undefined if some row fits reservations only. */
  #singles(): { pattern: Column; cost: number }[] | undefined {
    const result: ({ pattern: Column; cost: number } | undefined)[] = this.#pack.rows.map(() => undefined);
    const cheapest = new Float64Array(result.length).fill(Number.POSITIVE_INFINITY);
    for (const { rows, fit, price, option } of this.#pack.candidates) {
      if ((this.#model.catalogue.optionReservation[option] as number) >= 0) continue;
      rows.forEach((row, position) => {
        const count = Math.max(1, Math.min(fit[position] as number, this.#demand[row] as number));
        if (price / count >= (cheapest[row] as number)) return;
        cheapest[row] = price / count;
        result[row] = { pattern: { rows: [row], counts: [count] }, cost: price };
      });
    }
    return result.every((one) => one !== undefined) ? result : undefined;
  }
}

/** The filter that admits every option the class may ever use; -1 if no single filter does. */
function widestFilter(podClass: PodClass): number {
  if (orderedSteps(podClass.group).length > 1) return -1;
  return podClass.attempts[podClass.attempts.length - 1]?.options ?? -1;
}
