/** Where a class of pods could be bought a place right now: in each cell the best tier of pools, and the price of its share of a node. */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import { capacityOf, type Model, type PodClass } from '../compile/model.ts';
import type { Purse } from './purse.ts';

/** The places for a class; `tier` is the best of all cells, -1 when there is none. */
export interface Places {
  readonly tier: number;
  readonly cells: Int32Array;
  /** The best tier of pools that sells something in the cell, by position in `cells`. */
  readonly tiers: Int32Array;
  /** Price of the pod's share of a node, by position in `cells`. */
  readonly prices: Float64Array;
}

/** What is for sale under a filter, by template: its tier, and the lowest price in each cell. */
interface Shelf {
  readonly templates: number[];
  readonly tiers: number[];
  /** By position: the first of its offers, and the end of the last one's. */
  readonly starts: number[];
  readonly options: number[];
}

/** Answers for all classes, computed once for classes with equal conditions and requests. */
export class Market {
  readonly #model: Model;
  readonly #affordable: Uint8Array;
  /** By filter and size. */
  readonly #places = new Map<number, Places>();
  readonly #tiers = new Map<number, number>();
  /** By filter. */
  readonly #largest = new Map<number, Float64Array[][]>();
  readonly #shelves = new Map<number, Shelf>();

  constructor(model: Model, purse: Purse) {
    this.#model = model;
    this.#affordable = new Uint8Array(model.catalogue.optionCount);
    if (purse.isEndless) this.#affordable.fill(1);
    else {
      for (let option = 0; option < this.#affordable.length; option++) {
        this.#affordable[option] = purse.affords(option) > 0 ? 1 : 0;
      }
    }
  }

  /** Whether an option could be bought when the market opened. */
  sells(option: number): boolean {
    return this.#affordable[option] === 1;
  }

  /** Places for a class under a filter, in each cell in the best tier that has any there. */
  places({ size, requests }: PodClass, filter: number): Places {
    const key = memoKey(filter, size);
    let known = this.#places.get(key);
    if (known === undefined) {
      known = this.#find(requests, filter);
      this.#places.set(key, known);
    }
    return known;
  }

  /** The best tier in which a node that holds such a pod can be bought, or -1; quicker than looking at every cell. */
  tierOf({ size, requests }: PodClass, filter: number): number {
    const key = memoKey(filter, size);
    let known = this.#tiers.get(key);
    if (known === undefined) {
      let largest = this.#largest.get(filter);
      if (largest === undefined) {
        largest = this.#largestByTier(filter);
        this.#largest.set(filter, largest);
      }
      known = largest.findIndex((rows) => rows.some((row) => shareOf(requests, row, 0) <= 1));
      this.#tiers.set(key, known);
    }
    return known;
  }

  /** By tier: capacities that no other capacity of the tier exceeds. */
  #largestByTier(filter: number): Float64Array[][] {
    const byTier: Float64Array[][] = Array.from({ length: this.#model.tierCount }, () => []);
    const { templates, tiers, starts, options } = this.#shelf(filter);
    for (let position = 0; position < templates.length; position++) {
      const tier = tiers[position] as number;
      for (let at = starts[position] as number; at < (starts[position + 1] as number); at++) {
        const option = options[at] as number;
        const row = capacityOf(this.#model, option, filter);
        const rows = byTier[tier] as Float64Array[];
        let kept = 0;
        while (kept < rows.length && !covers(rows[kept] as Float64Array, row)) kept++;
        if (kept === rows.length) byTier[tier] = [...rows.filter((other) => !covers(row, other)), row];
        if (!this.#model.minValues.concern(option)) break;
      }
    }
    return byTier;
  }

  /** Where a pool has minValues, offers of one template in one cell differ in what they may hold, and all are kept. */
  #shelf(filter: number): Shelf {
    const known = this.#shelves.get(filter);
    if (known !== undefined) return known;
    const { catalogue, optionCell, poolTier, minValues, cellDomains } = this.#model;
    const { optionTemplate, optionPool, optionPrice } = catalogue;
    const admitted = (this.#model.admitted[filter] as Admitted).options;
    const shelf: Shelf = { templates: [], tiers: [], starts: [], options: [] };
    /** Where the offer of the present template in each cell is. */
    const offerIn = new Int32Array(cellDomains.length).fill(-1);
    let template = -1;
    let start = 0;
    for (let option = 0; option < optionTemplate.length; option++) {
      if (this.#affordable[option] === 0 || !hasBit(admitted, option)) continue;
      if (optionTemplate[option] !== template) {
        template = optionTemplate[option] as number;
        start = shelf.options.length;
        shelf.templates.push(template);
        shelf.tiers.push(poolTier[optionPool[option] as number] as number);
        shelf.starts.push(start);
      }
      const cell = optionCell[option] as number;
      const at = offerIn[cell] as number;
      if (at < start || minValues.concern(option)) offerIn[cell] = shelf.options.push(option) - 1;
      else if ((optionPrice[option] as number) < (optionPrice[shelf.options[at] as number] as number)) {
        shelf.options[at] = option;
      }
    }
    shelf.starts.push(shelf.options.length);
    this.#shelves.set(filter, shelf);
    return shelf;
  }

  #find(requests: Float64Array, filter: number): Places {
    const { catalogue, optionCell, cellDomains, minValues } = this.#model;
    const { alloc, dimensions, optionPrice } = catalogue;
    const { templates, tiers, starts, options } = this.#shelf(filter);
    const { tierCount } = this.#model;
    const tierIn = new Int32Array(cellDomains.length).fill(tierCount);
    const prices = new Float64Array(cellDomains.length).fill(Number.POSITIVE_INFINITY);
    for (let position = 0; position < templates.length; position++) {
      const ofTemplate = tiers[position] as number;
      const share = shareOf(requests, alloc, (templates[position] as number) * dimensions);
      if (share > 1) continue;
      const end = starts[position + 1] as number;
      for (let at = starts[position] as number; at < end; at++) {
        const option = options[at] as number;
        if (minValues.concern(option) && shareOf(requests, capacityOf(this.#model, option, filter), 0) > 1) continue;
        const cell = optionCell[option] as number;
        if (ofTemplate > (tierIn[cell] as number)) continue;
        const price = share * (optionPrice[option] as number);
        if (ofTemplate < (tierIn[cell] as number) || price < (prices[cell] as number)) prices[cell] = price;
        tierIn[cell] = ofTemplate;
      }
    }
    const found: number[] = [];
    for (let cell = 0; cell < prices.length; cell++) {
      if (prices[cell] !== Number.POSITIVE_INFINITY) found.push(cell);
    }
    return {
      tier: found.length === 0 ? -1 : tierIn.reduce((best, tier) => Math.min(best, tier), tierCount),
      cells: Int32Array.from(found),
      tiers: Int32Array.from(found, (cell) => tierIn[cell] as number),
      prices: prices.filter((price) => price !== Number.POSITIVE_INFINITY),
    };
  }
}

function memoKey(filter: number, size: number): number {
  return filter * 2 ** 26 + size;
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
