/**
 * Where nodes for a class of pods can be launched right now: in each cell the best tier of pools, and the price of the
 * pod's share of a node.
 */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import { capacityOf, type Model, type PodClass } from '../compile/model.ts';
import type { Purse } from './purse.ts';

/** The places for a class; `tier` is the best of all cells, -1 if there is none. */
export interface Places {
  readonly tier: number;
  readonly cells: Int32Array;
  /** The best tier of pools with an option in the cell, by position in `cells`. */
  readonly tiers: Int32Array;
  /** Price of the pod's share of a node, by position in `cells`. */
  readonly prices: Float64Array;
}

/** The options that a filter admits, by template: its tier, and the lowest price in each cell. */
interface Shelf {
  readonly templates: number[];
  readonly tiers: number[];
  /** By position: the index of its first offer; one more entry at the end. */
  readonly starts: number[];
  readonly options: number[];
}

/** An offer on a shelf, with the tier of its pool. */
interface Offer {
  readonly option: number;
  readonly tier: number;
}

/** From this many sizes under one filter on, it pays off to drop offers that are never the cheapest. */
const OFTEN = 32;

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
  readonly #thinned = new Map<number, Shelf>();
  readonly #asked = new Map<number, number>();

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

  /** Whether an option could be launched when this market was created. */
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

  /** The best tier with an option that holds such a pod, or -1; quicker than checking every cell. */
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

  /** If a pool has minValues, offers of one template in one cell differ in what they may hold, so all are kept. */
  #shelf(filter: number): Shelf {
    const known = this.#shelves.get(filter);
    if (known !== undefined) return known;
    const { catalogue, optionCell, poolTier, minValues, cellDomains } = this.#model;
    const { optionTemplate, optionPool, optionPrice } = catalogue;
    const admitted = (this.#model.admitted[filter] as Admitted).options;
    const shelf: Shelf = { templates: [], tiers: [], starts: [], options: [] };
    /** The position of the current template's offer in each cell. */
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

  /** The shelf of a filter; after many queries without the offers that are never the cheapest. */
  #shelfToSearch(filter: number): Shelf {
    const asked = (this.#asked.get(filter) ?? 0) + 1;
    this.#asked.set(filter, asked);
    if (asked < OFTEN) return this.#shelf(filter);
    let thinned = this.#thinned.get(filter);
    if (thinned === undefined) {
      thinned = this.#thin(this.#shelf(filter));
      this.#thinned.set(filter, thinned);
    }
    return thinned;
  }

  /**
   * Drops offers that another offer in the same cell beats for every pod: with at least as much of everything, at no
   * higher price per unit of anything, from a pool that is tried no later. With minValues, offers differ in more than
   * that, so all are kept.
   */
  #thin(shelf: Shelf): Shelf {
    const { catalogue, optionCell, cellDomains, minValues } = this.#model;
    const { alloc, dimensions, optionPrice, optionTemplate } = catalogue;
    if (shelf.options.some((option) => minValues.concern(option))) return shelf;
    const beats = (a: Offer, b: Offer): boolean => {
      if (a.tier > b.tier) return false;
      const [rowA, rowB] = [a.option, b.option].map((option) => (optionTemplate[option] as number) * dimensions);
      const [priceA, priceB] = [optionPrice[a.option] as number, optionPrice[b.option] as number];
      for (let column = 0; column < dimensions; column++) {
        const [hasA, hasB] = [alloc[(rowA as number) + column] as number, alloc[(rowB as number) + column] as number];
        if (hasA < hasB || priceA * hasB > priceB * hasA) return false;
      }
      return true;
    };
    const kept: Offer[][] = cellDomains.map(() => []);
    for (let position = 0; position < shelf.templates.length; position++) {
      const tier = shelf.tiers[position] as number;
      for (let at = shelf.starts[position] as number; at < (shelf.starts[position + 1] as number); at++) {
        const offer = { option: shelf.options[at] as number, tier };
        const cell = optionCell[offer.option] as number;
        const others = kept[cell] as Offer[];
        if (others.some((other) => beats(other, offer))) continue;
        kept[cell] = [...others.filter((other) => !beats(offer, other)), offer];
      }
    }
    const left = kept.flat();
    return {
      templates: left.map(({ option }) => optionTemplate[option] as number),
      tiers: left.map(({ tier }) => tier),
      starts: [...left.keys(), left.length],
      options: left.map(({ option }) => option),
    };
  }

  #find(requests: Float64Array, filter: number): Places {
    const { catalogue, optionCell, cellDomains, minValues } = this.#model;
    const { alloc, dimensions, optionPrice } = catalogue;
    const { templates, tiers, starts, options } = this.#shelfToSearch(filter);
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
