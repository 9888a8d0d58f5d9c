/** Selects the machines worth considering for a packing problem from all options. */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import { Interner } from '../compile/interner.ts';
import { capacityOf, type Model } from '../compile/model.ts';
import type { Market } from './market.ts';
import type { Candidate, ExclusiveGroup, PackScope, Row } from './pack-problem.ts';

/** What the candidates must hold. */
export interface Wanted {
  readonly rows: readonly Row[];
  /** What a pod of each row requests, and the largest request of its pods if they are not all equal. */
  readonly requests: Float64Array;
  readonly largest?: Float64Array;
  readonly exclusive: readonly ExclusiveGroup[];
}

/** The options worth considering: for each set of rows they can hold, those that no other option beats in price and every resource. */
export function findCandidates(model: Model, market: Market, wanted: Wanted, scope: PackScope): Candidate[] {
  const { rows } = wanted;
  const { catalogue, optionCell, poolTier, admitted } = model;
  const { optionTemplate, optionPool, alloc, dimensions } = catalogue;
  const pools = model.problem.pools.length;
  const filters = [...new Set(rows.map((row) => row.filter))];
  const cells = new Set(rows.map((row) => row.cell));
  const tiers = new Set(rows.map((row) => row.tier));
  const byKind = new Map<number, number[]>();
  const combinations = new Interner();
  // Options are visited by price, so each kind is sorted too. A kind is a number combined from everything that must not be mixed.
  for (let at = 0; at < model.optionsByPrice.length; at++) {
    const option = model.optionsByPrice[at] as number;
    const pool = optionPool[option] as number;
    const tier = poolTier[pool] as number;
    if (!market.sells(option) || !(tiers.has(-1) || tiers.has(tier))) continue;
    const combination = admittedBy(option, filters, admitted, combinations);
    if (combination < 0) continue;
    const cell = optionCell[option] as number;
    // Reservations, and offerings of pools with minValues, never displace other offerings.
    const reservation = (catalogue.optionReservation[option] as number) + 1;
    const own = model.minValues.concern(option) ? pool + 1 : 0;
    const place = combination * (model.cellDomains.length + 1) + (cells.has(cell) ? cell + 1 : 0);
    const kind =
      ((place * model.tierCount + (tiers.has(tier) ? tier : 0)) * (pools + 1) + own) *
        (catalogue.reservationSlots.length + 1) +
      reservation;
    const list = byKind.get(kind);
    if (list === undefined) byKind.set(kind, [option]);
    else list.push(option);
  }
  const result: Candidate[] = [];
  for (const options of byKind.values()) {
    const kept = undominated(options, optionTemplate, alloc, dimensions);
    for (const option of thin(model, kept, scope.ladder)) {
      const base = catalogue.alloc.subarray((optionTemplate[option] as number) * dimensions);
      const concerned = scope.relaxed !== true && model.minValues.concern(option);
      for (const filter of concerned ? filters : [filters[0] as number]) {
        const capacity = concerned ? capacityOf(model, option, filter) : base;
        const held = concerned ? rows.map((row) => (row.filter === filter ? row : undefined)) : rows;
        const candidate = toCandidate(model, option, filter, held, wanted, capacity);
        if (candidate !== undefined) result.push(candidate);
      }
    }
  }
  return result;
}

/** A number for the set of filters that admit an option; -1 if none does. */
function admittedBy(
  option: number,
  filters: readonly number[],
  admitted: readonly Admitted[],
  combinations: Interner,
): number {
  if (filters.length === 1) return hasBit((admitted[filters[0] as number] as Admitted).options, option) ? 0 : -1;
  let key = '';
  let any = false;
  for (const filter of filters) {
    const admits = hasBit((admitted[filter] as Admitted).options, option);
    key += admits ? '1' : '0';
    any ||= admits;
  }
  return any ? combinations.id(key) : -1;
}

/** Of options sorted by price, those that no cheaper one covers in every resource. */
function undominated(
  options: readonly number[],
  optionTemplate: Int32Array,
  alloc: Float64Array,
  dimensions: number,
): number[] {
  const kept: number[] = [];
  const largest = new Float64Array(dimensions).fill(Number.NEGATIVE_INFINITY);
  for (const option of options) {
    const row = (optionTemplate[option] as number) * dimensions;
    let exceeds = false;
    for (let column = 0; column < dimensions; column++) {
      if ((alloc[row + column] as number) <= (largest[column] as number)) continue;
      largest[column] = alloc[row + column] as number;
      exceeds = true;
    }
    let covered = false;
    // The last ones kept are the most similar. An option that exceeds all of them in some resource need not be compared.
    for (let at = kept.length - 1; at >= 0 && !exceeds && !covered; at--) {
      covered = covers(alloc, (optionTemplate[kept[at] as number] as number) * dimensions, row, dimensions);
    }
    if (!covered) kept.push(option);
  }
  return kept;
}

function covers(alloc: Float64Array, a: number, b: number, columns: number): boolean {
  for (let column = 0; column < columns; column++) {
    if ((alloc[a + column] as number) < (alloc[b + column] as number)) return false;
  }
  return true;
}

/**
 * Thins out options sorted by price. Machines of similar proportions differ only in size, so about `most` sizes of each
 * proportion are enough: the whole smaller half, then evenly over the logarithm of the price.
 */
function thin(model: Model, options: readonly number[], most: number): number[] {
  if (options.length <= most) return [...options];
  const { catalogue } = model;
  const byProportion = new Map<string, number[]>();
  for (const option of options) {
    const row = (catalogue.optionTemplate[option] as number) * catalogue.dimensions;
    const first = Math.max(catalogue.alloc[row] as number, 1);
    let key = '';
    for (let column = 1; column < catalogue.dimensions; column++) {
      key += `${Math.round(2 * Math.log2(((catalogue.alloc[row + column] as number) + 1e-3) / first))},`;
    }
    const list = byProportion.get(key);
    if (list === undefined) byProportion.set(key, [option]);
    else list.push(option);
  }
  return [...byProportion.values()].flatMap((list) => thinSizes(list, most, catalogue.optionPrice));
}

function thinSizes(options: readonly number[], most: number, price: Float64Array): readonly number[] {
  if (options.length <= most) return options;
  const dense = most >> 1;
  const result = options.slice(0, dense);
  const low = Math.log(price[options[dense] as number] as number);
  const high = Math.log(price[options[options.length - 1] as number] as number);
  const step = (high - low) / (most - dense - 1);
  let next = low;
  for (let index = dense; index < options.length; index++) {
    const at = Math.log(price[options[index] as number] as number);
    if (at >= next - 1e-9) {
      result.push(options[index] as number);
      next = at + step;
    }
  }
  return result;
}

function toCandidate(
  model: Model,
  option: number,
  filter: number,
  rows: readonly (Row | undefined)[],
  { requests, largest, exclusive }: Wanted,
  offered: Float64Array,
): Candidate | undefined {
  const { catalogue, admitted, optionCell, poolTier } = model;
  const base = catalogue.dimensions;
  const dimensions = base + exclusive.length;
  const capacity = new Float64Array(dimensions);
  for (let column = 0; column < base; column++) capacity[column] = offered[column] as number;
  exclusive.forEach(({ perNode }, position) => {
    capacity[base + position] = perNode;
  });
  const held = new Int32Array(rows.length);
  const fits = new Float64Array(rows.length);
  const share = new Float64Array(rows.length * dimensions);
  const cell = optionCell[option] as number;
  const tier = poolTier[catalogue.optionPool[option] as number] as number;
  let count = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index];
    if (row === undefined || (row.cell >= 0 && row.cell !== cell) || (row.tier >= 0 && row.tier !== tier)) continue;
    if (!hasBit((admitted[row.filter] as Admitted).options, option)) continue;
    let fit = Number.MAX_SAFE_INTEGER;
    for (let column = 0; column < dimensions; column++) {
      const each = requests[index * dimensions + column] as number;
      if (each === 0) continue;
      const has = capacity[column] as number;
      share[count * dimensions + column] = each / has;
      const fits = largest !== undefined && (largest[index * dimensions + column] as number) > has ? 0 : has / each;
      fit = Math.min(fit, Math.floor(fits));
    }
    if (fit < 1) {
      share.fill(0, count * dimensions, (count + 1) * dimensions);
      continue;
    }
    held[count] = index;
    fits[count] = fit;
    count++;
  }
  if (count === 0) return undefined;
  return {
    option,
    filter,
    price: catalogue.optionPrice[option] as number,
    capacity,
    rows: held.slice(0, count),
    share: share.slice(0, count * dimensions),
    fit: fits.slice(0, count),
  };
}
