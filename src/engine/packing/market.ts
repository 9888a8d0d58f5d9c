/** Where a class of pods could be bought a place right now: its tier of pools, and in each cell the price of its share of a node. */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import { capacityOf, type Model, type PodClass } from '../compile/model.ts';
import type { Purse } from './purse.ts';

/** The places for a class; `tier` is -1 when there is none. */
export interface Places {
  readonly tier: number;
  readonly cells: Int32Array;
  /** Price of the pod's share of a node, by position in `cells`. */
  readonly prices: Float64Array;
}

/** Answers for all classes, computed once for classes with equal conditions and requests. */
export class Market {
  readonly #model: Model;
  readonly #affordable: Uint8Array;
  readonly #memo = new Map<string, Places>();
  readonly #largest = new Map<number, Float64Array[][]>();
  readonly #shapes = new Map<Float64Array, string>();

  constructor(model: Model, purse: Purse) {
    this.#model = model;
    this.#affordable = new Uint8Array(model.catalogue.optionCount);
    for (let option = 0; option < this.#affordable.length; option++) {
      this.#affordable[option] = purse.affords(option) > 0 ? 1 : 0;
    }
  }

  /** Whether an option could be bought when the market opened. */
  sells(option: number): boolean {
    return this.#affordable[option] === 1;
  }

  /** Places for a class under a filter, in the best tier that has any. */
  places(podClass: PodClass, filter: number): Places {
    let shape = this.#shapes.get(podClass.requests);
    if (shape === undefined) {
      shape = podClass.requests.join();
      this.#shapes.set(podClass.requests, shape);
    }
    const key = `${filter}|${shape}`;
    let known = this.#memo.get(key);
    if (known === undefined) {
      known = this.#find(podClass.requests, filter);
      this.#memo.set(key, known);
    }
    return known;
  }

  /** The best tier in which a node that holds such a pod can be bought, or -1; quicker than looking at every cell. */
  tierOf(podClass: PodClass, filter: number): number {
    let largest = this.#largest.get(filter);
    if (largest === undefined) {
      largest = this.#largestByTier(filter);
      this.#largest.set(filter, largest);
    }
    return largest.findIndex((rows) => rows.some((row) => shareOf(podClass.requests, row, 0) <= 1));
  }

  /** By tier: capacities that no other capacity of the tier exceeds. */
  #largestByTier(filter: number): Float64Array[][] {
    const { catalogue, poolTier, tierCount, admitted } = this.#model;
    const { options } = admitted[filter] as Admitted;
    const byTier: Float64Array[][] = Array.from({ length: tierCount }, () => []);
    let template = -1;
    for (let option = 0; option < catalogue.optionCount; option++) {
      if (!hasBit(options, option) || this.#affordable[option] === 0) continue;
      if (catalogue.optionTemplate[option] === template && !this.#model.minValues.concern(option)) continue;
      template = catalogue.optionTemplate[option] as number;
      const tier = poolTier[(catalogue.templates[template] as { pool: number }).pool] as number;
      const row = capacityOf(this.#model, option, filter);
      const rows = byTier[tier] as Float64Array[];
      if (rows.some((other) => covers(other, row))) continue;
      byTier[tier] = [...rows.filter((other) => !covers(row, other)), row];
    }
    return byTier;
  }

  #find(requests: Float64Array, filter: number): Places {
    const { catalogue, optionCell, cellDomains, poolTier } = this.#model;
    const { alloc, dimensions, optionTemplate, optionPrice, templates } = catalogue;
    const { minValues } = this.#model;
    const { options } = this.#model.admitted[filter] as Admitted;
    let tier = this.#model.tierCount;
    let prices = new Float64Array(cellDomains.length).fill(Number.POSITIVE_INFINITY);
    let template = -1;
    let share = 0;
    let templateTier = 0;
    for (let option = 0; option < optionTemplate.length; option++) {
      if (!hasBit(options, option) || this.#affordable[option] === 0) continue;
      if (optionTemplate[option] !== template) {
        template = optionTemplate[option] as number;
        templateTier = poolTier[(templates[template] as { pool: number }).pool] as number;
        share = shareOf(requests, alloc, template * dimensions);
      }
      if (share > 1 || templateTier > tier) continue;
      if (minValues.concern(option) && shareOf(requests, capacityOf(this.#model, option, filter), 0) > 1) continue;
      if (templateTier < tier) {
        tier = templateTier;
        prices = prices.fill(Number.POSITIVE_INFINITY);
      }
      const cell = optionCell[option] as number;
      const price = share * (optionPrice[option] as number);
      if (price < (prices[cell] as number)) prices[cell] = price;
    }
    const found: number[] = [];
    prices.forEach((price, cell) => {
      if (price !== Number.POSITIVE_INFINITY) found.push(cell);
    });
    const cells = Int32Array.from(found);
    if (cells.length === 0) tier = -1;
    return { tier, cells, prices: Float64Array.from(cells, (cell) => prices[cell] as number) };
  }
}

/** The largest share of any resource of a machine that the requests take; above 1 they do not fit. */
export function shareOf(requests: Float64Array, alloc: Float64Array, row: number): number {
  let share = 0;
  for (let column = 0; column < requests.length; column++) {
    const each = requests[column] as number;
    if (each === 0) continue;
    const has = alloc[row + column] as number;
    if (has < each) return 2;
    if (each / has > share) share = each / has;
  }
  return share;
}

function covers(a: Float64Array, b: Float64Array): boolean {
  for (let column = 0; column < a.length; column++) if ((a[column] as number) < (b[column] as number)) return false;
  return true;
}
