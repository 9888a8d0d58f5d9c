/** The options worth considering for a launch: for each size the few that give the most for their price. */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import type { Model, PodClass } from '../compile/model.ts';
import { worth } from '../unit-prices.ts';

/** Options kept for each size; each size is half as large again as the previous one. */
const PER_SIZE = 3;
const SIZE_STEP = Math.log(1.5);

/** Lists of options by filter, built once. */
export class MarketLadder {
  readonly #model: Model;
  readonly #prices: Float64Array;
  readonly #tierOf: Int32Array;
  readonly #byPrice = new Map<string, Int32Array>();
  readonly #ladders = new Map<string, Int32Array>();
  readonly #tiers = new Map<number, number>();

  constructor(model: Model, prices: Float64Array) {
    this.#model = model;
    this.#prices = prices;
    const { catalogue, poolTier } = model;
    this.#tierOf = Int32Array.from(catalogue.optionTemplate, (template) => {
      return poolTier[catalogue.templates[template]?.pool ?? 0] as number;
    });
  }

  /** Options that a filter admits, from cheap to expensive: all, or those of one cell of domains. */
  byPrice(filter: number, cell = -1): Int32Array {
    const key = `${filter}|${cell}`;
    let known = this.#byPrice.get(key);
    if (known === undefined) {
      const { catalogue, admitted, optionCell } = this.#model;
      const { options } = admitted[filter] as Admitted;
      const found: number[] = [];
      for (let option = 0; option < catalogue.optionCount; option++) {
        if (hasBit(options, option) && (cell < 0 || optionCell[option] === cell)) found.push(option);
      }
      const { optionPrice } = catalogue;
      found.sort((a, b) => (optionPrice[a] as number) - (optionPrice[b] as number) || a - b);
      known = Int32Array.from(found);
      this.#byPrice.set(key, known);
    }
    return known;
  }

  /** The tier of pools that new nodes for such pods are launched from: the first with an option that holds one. -1 if there is none. */
  tier(filter: number, { requests, index }: PodClass): number {
    const key = filter * this.#model.classes.length + index;
    let known = this.#tiers.get(key);
    if (known === undefined) {
      known = -1;
      for (const option of this.byPrice(filter)) {
        if (!this.#holds(option, requests)) continue;
        const tier = this.tierOf(option);
        if (known < 0 || tier < known) known = tier;
      }
      this.#tiers.set(key, known);
    }
    return known;
  }

  tierOf(option: number): number {
    return this.#tierOf[option] as number;
  }

  /** The value of everything a node of an option can hold. */
  worthOf(option: number): number {
    const { catalogue, dimensions } = this.#model;
    return worth(this.#prices, catalogue.alloc, (catalogue.optionTemplate[option] as number) * dimensions.size);
  }

  /** The best options of every size for a filter and tier. Of other zones, only options that are cheaper there. */
  ladder(filter: number, tier: number, zone: string): Int32Array {
    const key = `${filter}|${tier}|${zone}`;
    let known = this.#ladders.get(key);
    if (known === undefined) {
      known = this.#build(filter, tier, zone);
      this.#ladders.set(key, known);
    }
    return known;
  }

  #build(filter: number, tier: number, zone: string): Int32Array {
    const { optionTemplate, optionPrice, optionOffering, optionReservation } = this.#model.catalogue;
    const here = new Map<number, number>();
    const candidates: number[] = [];
    const reserved: number[] = [];
    const ofTier = this.byPrice(filter).filter((option) => this.tierOf(option) === tier);
    for (const option of ofTier) {
      if ((optionReservation[option] as number) >= 0) {
        reserved.push(option);
        continue;
      }
      const template = optionTemplate[option] as number;
      const price = optionPrice[option] as number;
      if (optionOffering[option]?.zone === zone && price < (here.get(template) ?? Number.POSITIVE_INFINITY)) {
        here.set(template, price);
      }
    }
    for (const option of ofTier) {
      if ((optionReservation[option] as number) >= 0) continue;
      const local = here.get(optionTemplate[option] as number) ?? Number.POSITIVE_INFINITY;
      if (optionOffering[option]?.zone === zone || (optionPrice[option] as number) < local) candidates.push(option);
    }
    const bySize = new Map<number, { option: number; ratio: number }[]>();
    for (const option of candidates) {
      const amount = Math.max(this.worthOf(option), 1e-9);
      const size = Math.floor(Math.log(amount) / SIZE_STEP);
      const rung = bySize.get(size) ?? [];
      rung.push({ option, ratio: (optionPrice[option] as number) / amount });
      bySize.set(size, rung);
    }
    const rungs = [...bySize].sort(([a], [b]) => a - b);
    const kept = rungs.flatMap(([, rung]) =>
      rung
        .sort((a, b) => a.ratio - b.ratio || a.option - b.option)
        .slice(0, PER_SIZE)
        .map(({ option }) => option),
    );
    return Int32Array.from([...reserved, ...kept]);
  }

  #holds(option: number, requests: Float64Array): boolean {
    const { alloc, optionTemplate } = this.#model.catalogue;
    const row = (optionTemplate[option] as number) * requests.length;
    for (let column = 0; column < requests.length; column++) {
      if ((requests[column] as number) > (alloc[row + column] as number) && requests[column] !== 0) return false;
    }
    return true;
  }
}
