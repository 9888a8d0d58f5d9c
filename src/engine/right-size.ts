/** Gives each new node the cheapest offering that holds its pods. */

import type { Attempt } from './compile/attempts.ts';
import { hasBit, intersection } from './compile/bitset.ts';
import type { Admitted } from './compile/compatibility.ts';
import { Interner } from './compile/interner.ts';
import { capacityOf, type PodClass } from './compile/model.ts';
import { PairIds } from './compile/pair-ids.ts';
import type { Construction } from './construct.ts';
import { FilterSets, NO_FILTERS } from './filter-sets.ts';
import type { Slices, Work } from './packing/work.ts';
import type { PlacementState } from './topology/placement-state.ts';
import { HOST } from './topology/rules.ts';

/** Switches each new node to the cheapest option that holds its pods; returns the total price. */
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

const NO_COUNTS: readonly number[] = [];

/** Finds the options that could hold the pods of a node of a construction. */
export class NodeSizes {
  readonly #state: PlacementState;
  readonly #attempt: Int32Array;
  readonly #filterSets = new FilterSets();
  readonly #counted = new Interner();
  readonly #profiles = new PairIds();
  readonly #lists = new Map<number, Int32Array>();
  readonly #used: Float64Array;
  /** By kind of pod: 1 if some rule counts them per zone, 0 if not, -1 if not known yet. */
  readonly #pinning: Int8Array;
  /** By kind of pod: the filters of the topology groups that count them, once known. */
  readonly #countFilters: (readonly number[] | undefined)[] = [];

  constructor(construction: Construction) {
    this.#state = construction.state;
    this.#attempt = construction.attempt;
    const { model } = this.#state;
    this.#used = new Float64Array(model.dimensions.size);
    this.#pinning = new Int8Array(model.kindCount).fill(-1);
  }

  /** The cheapest affordable option that holds the node's pods, or -1. */
  cheapest(node: number): number {
    const state = this.#state;
    const { minValues, catalogue } = state.model;
    const current = state.nodeOption[node] as number;
    // In a pool with minValues, pods with different filters on one node could not all be relied on.
    const concerned = minValues.concern(current);
    const filter = concerned ? this.filterOf(node) : 0;
    this.measure(node);
    const options = this.options(node, concerned);
    for (let at = 0; at < options.length; at++) {
      const option = options[at] as number;
      if (option === current) return option;
      if (!this.fits(option) || state.purse.affords(option) === 0) continue;
      if (!minValues.any) return option;
      if (concerned ? this.#fitsIn(capacityOf(state.model, option, filter), 0) : !minValues.concern(option))
        return option;
      if (catalogue.optionPrice[option] === catalogue.optionPrice[current]) return current;
    }
    return -1;
  }

  /** Options in the same tier (or the same pool) that all pods of the node admit, from cheap to expensive. */
  options(node: number, samePool: boolean): Int32Array {
    const { model } = this.#state;
    const { poolTier, optionCell } = model;
    const current = this.#state.nodeOption[node] as number;
    const pool = model.catalogue.optionPool[current] as number;
    const cell = this.#pinned(node) ? (optionCell[current] as number) : -1;
    const set = this.#filters(node);
    const counting = this.#counting(node);
    const counted = this.#counted.id(counting.map((filter) => `${filter}:${this.#admits(filter, current)}`).join());
    // A tier with a single pool needs no separate list.
    const pools = model.problem.pools.length;
    const ofPool = samePool && pools > 1;
    const scope = ofPool ? pool : pools + (poolTier[pool] as number);
    const scopes = pools + model.tierCount;
    const key = (this.#profiles.id(counted, set) * (model.cellDomains.length + 1) + cell + 1) * scopes + scope;
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = this.#list(current, this.#filterSets.members(set), counting, cell, ofPool);
      this.#lists.set(key, list);
    }
    return list;
  }

  #list(
    current: number,
    filters: readonly number[],
    counting: readonly number[],
    cell: number,
    samePool: boolean,
  ): Int32Array {
    const { model } = this.#state;
    const { poolTier, optionCell, optionsByPrice } = model;
    const { optionPool } = model.catalogue;
    let admitted = (model.admitted[filters[0] as number] as Admitted).options;
    for (const filter of filters) admitted = intersection(admitted, (model.admitted[filter] as Admitted).options);
    const pool = optionPool[current] as number;
    const list = new Int32Array(optionsByPrice.length);
    let length = 0;
    for (let at = 0; at < optionsByPrice.length; at++) {
      const option = optionsByPrice[at] as number;
      if (!hasBit(admitted, option) || (cell >= 0 && optionCell[option] !== cell)) continue;
      const other = optionPool[option] as number;
      if (other !== pool && (samePool || poolTier[other] !== poolTier[pool])) continue;
      let alike = true;
      for (const filter of counting) {
        if (this.#admits(filter, option) !== this.#admits(filter, current)) alike = false;
      }
      if (alike) list[length++] = option;
    }
    return list.subarray(0, length);
  }

  #admits(filter: number, option: number): boolean {
    return hasBit((this.#state.model.admitted[filter] as Admitted).options, option);
  }

  /** Measures a node: `fits` refers to this node until the next call. */
  measure(node: number): void {
    for (let column = 0; column < this.#used.length; column++) this.#used[column] = this.#state.used(node, column);
  }

  /** Whether an option has room for all pods of the node measured last. */
  fits(option: number): boolean {
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

  /** The filter of the node's pods, or one of them if there are several. */
  filterOf(node: number): number {
    return this.#filterSets.members(this.#filters(node))[0] as number;
  }

  /** A key for the node's option, filters and used resources. */
  signature(node: number): string {
    const { model, nodeOption } = this.#state;
    let key = `${nodeOption[node]}|${this.#pinned(node)}|${this.#filters(node)}|${this.#counting(node).join()}`;
    for (let column = 0; column < model.dimensions.size; column++) key += `|${this.#state.used(node, column)}`;
    return key;
  }

  /** Whether moving the node to another zone would change a topology count. */
  #pinned(node: number): boolean {
    const { contents, model } = this.#state;
    const list = contents[node] as number[];
    for (let at = 0; at < list.length; at += 2) {
      const podClass = model.classes[list[at] as number] as PodClass;
      if (this.#pinning[podClass.kind] === -1) this.#pinning[podClass.kind] = this.#pins(podClass) ? 1 : 0;
      if (this.#pinning[podClass.kind] === 1) return true;
    }
    return false;
  }

  /** Filters of the groups that count pods of this node. An option on the other side of such a filter would change the counts. */
  #counting(node: number): readonly number[] {
    const { contents, model } = this.#state;
    if (model.countFilters.length === 0) return NO_COUNTS;
    const list = contents[node] as number[];
    const filters = new Set<number>();
    for (let at = 0; at < list.length; at += 2)
      for (const filter of this.#countingOf(model.classes[list[at] as number] as PodClass)) filters.add(filter);
    return [...filters].sort((a, b) => a - b);
  }

  #countingOf({ kind, topology }: PodClass): readonly number[] {
    const known = this.#countFilters[kind];
    if (known !== undefined) return known;
    const { groups } = this.#state.model;
    const found = Array.from(topology.counted, (group) => groups[group]?.filter ?? -1).filter((filter) => filter >= 0);
    this.#countFilters[kind] = found;
    return found;
  }

  #pins({ domainBound, topology }: PodClass): boolean {
    const { groups } = this.#state.model;
    return domainBound || topology.counted.some((group) => groups[group]?.key !== HOST);
  }

  /** The set of filters that admitted the node's pods. */
  #filters(node: number): number {
    const { contents } = this.#state;
    const list = contents[node] as number[];
    const option = this.#state.nodeOption[node] as number;
    let set = NO_FILTERS;
    for (let at = 0; at < list.length; at += 2) {
      set = this.#filterSets.with(set, this.#filterFor(list[at] as number, option));
    }
    return set;
  }

  /** The filter that admits pods of a class on a node of an option. */
  #filterFor(index: number, option: number): number {
    const { attempts, group } = this.#state.model.classes[index] as PodClass;
    const used = (attempts[this.#attempt[index] as number] as Attempt).options;
    // A pod may be on a node that a later alternative of its class admits. A pod placed by the first of ordered alternatives keeps that
    // filter, even if other pods of its class needed a later one that admits the same node.
    if (attempts.length === 1 || (group.ordered !== true && this.#admits(used, option))) return used;
    return attempts.find((one) => this.#admits(one.options, option))?.options ?? used;
  }
}
