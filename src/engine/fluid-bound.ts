/**
 * A lower bound on the price of pods, as if they could be split: the cheapest mix of machines with enough of every
 * resource for their total. For pods that are all different this is the tightest of our bounds.
 */
import type { Attempt } from './compile/attempts.ts';
import { type Bitset, hasBit, newBitset } from './compile/bitset.ts';
import type { Admitted } from './compile/compatibility.ts';
import type { Model } from './compile/model.ts';
import { unitPrices, worth } from './unit-prices.ts';

/** Pods that could share machines with each other, but not with any other pods. */
interface Sharing {
  readonly demand: Float64Array;
  readonly options: Bitset;
}

/** A lower bound on the price of new nodes for these pods, counted by class. */
export function fluidBound(model: Model, counts: Int32Array): number {
  let sum = 0;
  for (const { demand, options } of sharingPods(model, counts)) sum += boundOf(model, demand, options);
  return sum;
}

/**
 * By duality: the value of the pods at unit prices at which no machine holds more value than it costs. For reservations,
 * the value held beyond the price is subtracted once per slot.
 */
function boundOf(model: Model, demand: Float64Array, options: Bitset): number {
  const { catalogue } = model;
  const { optionTemplate, optionReservation, optionPrice, reservationSlots, alloc, dimensions } = catalogue;
  const prices = unitPrices(model, demand, (option) => hasBit(options, option));
  const held = new Float64Array(dimensions);
  let factor = 1;
  const excess = new Float64Array(reservationSlots.length);
  for (let option = 0; option < catalogue.optionCount; option++) {
    if (!hasBit(options, option)) continue;
    const row = (optionTemplate[option] as number) * dimensions;
    for (let column = 0; column < dimensions; column++) held[column] = Math.max(0, alloc[row + column] as number);
    const value = worth(prices, held);
    const price = optionPrice[option] as number;
    const reservation = optionReservation[option] as number;
    if (reservation >= 0) excess[reservation] = Math.max(excess[reservation] as number, value - price);
    // Corrects the rounding error of the prices.
    else if (price > 0) factor = Math.max(factor, value / price);
    else if (value > 0) return 0;
  }
  let bound = worth(prices, demand);
  excess.forEach((amount, reservation) => {
    bound -= amount * (reservationSlots[reservation] as number);
  });
  return Math.max(0, (bound / factor) * (1 - 1e-9));
}

/** Splits pods into groups that cannot share a machine, by the options that their filters admit. */
function sharingPods(model: Model, counts: Int32Array): Sharing[] {
  const demandOf = new Map<string | number, { demand: Float64Array; filters: readonly number[] }>();
  const { size } = model.dimensions;
  for (const { index, attempts, requests } of model.classes) {
    const count = counts[index] as number;
    if (count === 0) continue;
    // Most pods have a single attempt, and its filter is enough as a key.
    const key = attempts.length === 1 ? (attempts[0] as Attempt).options : filtersOf(attempts).join();
    let known = demandOf.get(key);
    if (known === undefined) {
      known = { demand: new Float64Array(size), filters: filtersOf(attempts) };
      demandOf.set(key, known);
    }
    const { demand } = known;
    for (let column = 0; column < size; column++) {
      demand[column] = (demand[column] as number) + (requests[column] as number) * count;
    }
  }
  let found: Sharing[] = [];
  for (const { demand, filters } of demandOf.values()) {
    let merged: Sharing = { demand, options: unionOf(model, filters) };
    const apart: Sharing[] = [];
    for (const other of found) {
      if (meet(model, merged.options, other.options)) merged = join(merged, other);
      else apart.push(other);
    }
    found = [...apart, merged];
  }
  return found;
}

function filtersOf(attempts: readonly Attempt[]): number[] {
  return [...new Set(attempts.flatMap(({ nodes, options }) => [...nodes, options]))].sort((a, b) => a - b);
}

function unionOf(model: Model, filters: Iterable<number>): Bitset {
  const all = newBitset(model.catalogue.optionCount);
  for (const filter of filters) {
    const { options } = model.admitted[filter] as Admitted;
    for (let word = 0; word < all.length; word++) all[word] = (all[word] as number) | (options[word] as number);
  }
  return all;
}

/** Whether two sets have an option in common, or options of one reservation. */
function meet(model: Model, a: Bitset, b: Bitset): boolean {
  for (let word = 0; word < a.length; word++) if (((a[word] as number) & (b[word] as number)) !== 0) return true;
  const { optionReservation, optionCount } = model.catalogue;
  const reserved = new Set<number>();
  for (let option = 0; option < optionCount; option++) {
    if ((optionReservation[option] as number) >= 0 && hasBit(a, option))
      reserved.add(optionReservation[option] as number);
  }
  if (reserved.size === 0) return false;
  for (let option = 0; option < optionCount; option++) {
    if (hasBit(b, option) && reserved.has(optionReservation[option] as number)) return true;
  }
  return false;
}

function join(a: Sharing, b: Sharing): Sharing {
  return {
    demand: a.demand.map((amount, column) => amount + (b.demand[column] as number)),
    options: a.options.map((word, index) => word | (b.options[index] as number)),
  };
}
