/** Gives each new node the cheapest offering that holds what is on it. */

import type { Attempt } from './compile/attempts.ts';
import { hasBit, intersection } from './compile/bitset.ts';
import type { Admitted } from './compile/compatibility.ts';
import { capacityOf, type Model, type PodClass } from './compile/model.ts';
import type { Construction } from './construct.ts';
import type { Slices, Work } from './packing/work.ts';
import type { PlacementState } from './topology/placement-state.ts';
import { HOST } from './topology/rules.ts';

/** Exchanges each new node for the cheapest option that holds what is on it; returns the price of all. */
export function* rightSize(construction: Construction, sizes: NodeSizes, work: Work): Slices<number> {
  const { state } = construction;
  const { catalogue } = state.model;
  let price = 0;
  for (let node = state.existingCount; node < state.nodeCount; node++) {
    const current = state.nodeOption[node] as number;
    if ((state.contents[node] as number[]).length > 0) {
      const best = sizes.cheapest(node);
      if (best >= 0 && (catalogue.optionPrice[best] as number) < (catalogue.optionPrice[current] as number)) {
        state.exchange(node, best, sizes.filterOf(node));
      }
      price += catalogue.optionPrice[state.nodeOption[node] as number] as number;
    }
    if (work.spend(40)) yield;
  }
  return price;
}

/** Which options could carry what is on a node of a construction. */
export class NodeSizes {
  readonly #state: PlacementState;
  readonly #attempt: Int32Array;
  readonly #lists = new Map<string, Int32Array>();
  readonly #used: Float64Array;

  constructor(construction: Construction) {
    this.#state = construction.state;
    this.#attempt = construction.attempt;
    this.#used = new Float64Array(construction.state.model.dimensions.size);
  }

  /** The cheapest affordable option that holds the node's pods, or -1. */
  cheapest(node: number): number {
    const state = this.#state;
    const { minValues, catalogue } = state.model;
    const current = state.nodeOption[node] as number;
    // Pods with different filters together on a node of a pool with minValues could not all be counted on.
    const concerned = minValues.concern(current);
    const filter = concerned ? this.filterOf(node) : 0;
    this.#measure(node);
    for (const option of this.options(node, concerned)) {
      if (option === current) return option;
      if (!this.#fits(option) || state.purse.affords(option) === 0) continue;
      if (!minValues.any) return option;
      if (concerned ? this.#fitsIn(capacityOf(state.model, option, filter), 0) : !minValues.concern(option))
        return option;
      if (catalogue.optionPrice[option] === catalogue.optionPrice[current]) return current;
    }
    return -1;
  }

  /** Options in the same tier (or the same pool) that all pods of the node admit, from cheap to dear. */
  options(node: number, samePool: boolean): Int32Array {
    const { model } = this.#state;
    const { poolTier, optionCell } = model;
    const current = this.#state.nodeOption[node] as number;
    const pool = poolOf(model, current);
    const cell = this.#pinned(node) ? (optionCell[current] as number) : -1;
    const filters = this.#filters(node);
    const counted = model.countFilters.map((filter) => hasBit((model.admitted[filter] as Admitted).options, current));
    const key = `${filters.join()}|${cell}|${samePool ? `p${pool}` : poolTier[pool]}|${counted.join()}`;
    let list = this.#lists.get(key);
    if (list === undefined) {
      let set = (model.admitted[filters[0] as number] as Admitted).options;
      for (const filter of filters) set = intersection(set, (model.admitted[filter] as Admitted).options);
      list = model.optionsByPrice.filter((option) => {
        if (!hasBit(set, option) || (cell >= 0 && optionCell[option] !== cell)) return false;
        const other = poolOf(model, option);
        if (samePool ? other !== pool : poolTier[other] !== poolTier[pool]) return false;
        return model.countFilters.every(
          (filter, index) => hasBit((model.admitted[filter] as Admitted).options, option) === counted[index],
        );
      });
      this.#lists.set(key, list);
    }
    return list;
  }

  /** Those of the options that have room for all that is on the node. */
  *holding(node: number, options: Int32Array): Generator<number> {
    this.#measure(node);
    for (const option of options) if (this.#fits(option)) yield option;
  }

  #measure(node: number): void {
    for (let column = 0; column < this.#used.length; column++) this.#used[column] = this.#state.used(node, column);
  }

  #fits(option: number): boolean {
    const { alloc, dimensions, optionTemplate } = this.#state.model.catalogue;
    return this.#fitsIn(alloc, (optionTemplate[option] as number) * dimensions);
  }

  #fitsIn(capacity: Float64Array, row: number): boolean {
    const used = this.#used;
    for (let column = 0; column < used.length; column++) {
      if ((used[column] as number) > (capacity[row + column] as number)) return false;
    }
    return true;
  }

  /** The filter of the node's pods, or one of them. */
  filterOf(node: number): number {
    return this.#filters(node)[0] as number;
  }

  /** What is used on the node, as a key. */
  signature(node: number): string {
    const { model, nodeOption } = this.#state;
    let key = `${nodeOption[node]}|${this.#pinned(node)}|${this.#filters(node).join()}`;
    for (let column = 0; column < model.dimensions.size; column++) key += `|${this.#state.used(node, column)}`;
    return key;
  }

  /** Whether moving the node to another zone would change a topology count. */
  #pinned(node: number): boolean {
    const { contents, model } = this.#state;
    const list = contents[node] as number[];
    for (let at = 0; at < list.length; at += 2) {
      const { topology, domainBound } = model.classes[list[at] as number] as PodClass;
      if (domainBound) return true;
      for (const group of topology.counted) if (model.groups[group]?.key !== HOST) return true;
    }
    return false;
  }

  #filters(node: number): number[] {
    const { contents, model } = this.#state;
    const list = contents[node] as number[];
    const found = new Set<number>();
    for (let at = 0; at < list.length; at += 2) {
      const { attempts, index } = model.classes[list[at] as number] as PodClass;
      const used = attempts[this.#attempt[index] as number] as Attempt;
      const option = this.#state.nodeOption[node] as number;
      // A pod may ride on a node that a later alternative of its own admits.
      const filter = hasBit((model.admitted[used.options] as Admitted).options, option)
        ? used.options
        : (attempts.find((one) => hasBit((model.admitted[one.options] as Admitted).options, option)) ?? used).options;
      found.add(filter);
    }
    return [...found].sort((a, b) => a - b);
  }
}

/** The pool of an option. */
export function poolOf(model: Model, option: number): number {
  return (model.catalogue.templates[model.catalogue.optionTemplate[option] as number] as { pool: number }).pool;
}
