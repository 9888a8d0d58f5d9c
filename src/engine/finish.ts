/** Turns a construction into the answer: right-sizes each new node, ranks its offerings, and numbers the pods. */
import { forEachBit, hasBit, intersection } from './compile/bitset.ts';
import type { Template } from './compile/catalogue.ts';
import type { Admitted } from './compile/compatibility.ts';
import { agree } from './compile/min-values.ts';
import { type Attempt, capacityOf, type Model, type PodClass } from './compile/model.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from './compile/well-known.ts';
import type { Construction } from './construct.ts';
import type { Slices, Work } from './packing/work.ts';
import type { Requirement } from './problem.ts';
import type { ExistingPlacement, NewNode, RankedOffering } from './solution.ts';
import type { PlacementState } from './topology/placement-state.ts';
import { HOST } from './topology/rules.ts';

/** Offerings listed for each new node. */
const RANKED = 40;
/** Zones of one instance type listed before other types get their turn. */
const PER_TYPE = 2;

/** Exchanges each new node for the cheapest option that holds what is on it; returns the price of all. */
export function* rightSize(construction: Construction, work: Work): Slices<number> {
  const { state } = construction;
  const { catalogue } = state.model;
  const sizes = new NodeSizes(construction);
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

/** Which options could carry what is on a node. */
class NodeSizes {
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
    const { catalogue, poolTier, optionCell } = model;
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
      const found: number[] = [];
      forEachBit(set, (option) => {
        const other = poolOf(model, option);
        if (samePool ? other !== pool : poolTier[other] !== poolTier[pool]) return;
        if (cell >= 0 && optionCell[option] !== cell) return;
        const countsAlike = model.countFilters.every(
          (filter, index) => hasBit((model.admitted[filter] as Admitted).options, option) === counted[index],
        );
        if (countsAlike) found.push(option);
      });
      const { optionPrice } = catalogue;
      found.sort((a, b) => (optionPrice[a] as number) - (optionPrice[b] as number) || a - b);
      list = Int32Array.from(found);
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

function poolOf(model: Model, option: number): number {
  return (model.catalogue.templates[model.catalogue.optionTemplate[option] as number] as { pool: number }).pool;
}

/** The nodes, placements and order of an answer. */
export interface Placements {
  readonly newNodes: NewNode[];
  readonly existing: ExistingPlacement[];
  readonly order: number[];
  /** Pods of each class that were placed come first in its list; this is how many. */
  readonly taken: Int32Array;
  readonly price: number;
}

/** Reads the answer out of a construction. */
export function* readOut(construction: Construction, work: Work): Slices<Placements> {
  const { state } = construction;
  const { model } = state;
  const taken = new Int32Array(model.classes.length);
  const order: number[] = [];
  const podsOf: number[][] = Array.from({ length: state.nodeCount }, () => []);
  for (let at = 0; at < state.log.length; at += 3) {
    const { pods, index } = model.classes[state.log[at] as number] as PodClass;
    const list = podsOf[state.log[at + 1] as number] as number[];
    const from = taken[index] as number;
    const until = from + (state.log[at + 2] as number);
    for (let position = from; position < until; position++) {
      order.push(pods[position] as number);
      list.push(pods[position] as number);
    }
    taken[index] = until;
    if (work.spend(16)) yield;
  }
  const existing: ExistingPlacement[] = [];
  for (let node = 0; node < state.existingCount; node++) {
    const pods = podsOf[node] as number[];
    if (pods.length > 0) existing.push({ node: model.nodes[node]?.name ?? '', pods });
  }
  const ranking = new Ranking(construction);
  const newNodes: NewNode[] = [];
  let price = 0;
  for (let node = state.existingCount; node < state.nodeCount; node++) {
    const pods = podsOf[node] as number[];
    if (pods.length === 0) continue;
    const described = ranking.describe(node, pods);
    price += described.price;
    newNodes.push(described);
    if (work.spend(160)) yield;
  }
  return { newNodes, existing, order, taken, price };
}

/** Describes new nodes; those that are alike share their lists. */
class Ranking {
  readonly #state: PlacementState;
  readonly #sizes: NodeSizes;
  readonly #offerings = new Map<number, RankedOffering>();
  readonly #memo = new Map<string, Omit<NewNode, 'pods'>>();

  constructor(construction: Construction) {
    this.#state = construction.state;
    this.#sizes = new NodeSizes(construction);
  }

  describe(node: number, pods: readonly number[]): NewNode {
    const key = this.#sizes.signature(node);
    let known = this.#memo.get(key);
    if (known === undefined) {
      known = this.#describe(node);
      this.#memo.set(key, known);
    }
    return { ...known, pods };
  }

  #describe(node: number): Omit<NewNode, 'pods'> {
    const { model, nodeOption } = this.#state;
    const { catalogue, dimensions, problem } = model;
    const option = nodeOption[node] as number;
    const ranked = this.#ranked(node, option);
    const offerings = ranked.map((one) => this.#offering(one));
    const used = new Float64Array(dimensions.size);
    for (let column = 0; column < used.length; column++) used[column] = this.#state.used(node, column);
    const pool = problem.pools[poolOf(model, option)];
    return {
      pool: pool?.name ?? '',
      requirements: requirementsOf(offerings, pool?.requirements ?? [], this.#settled(option)),
      offerings,
      price: catalogue.optionPrice[option] as number,
      requests: dimensions.toResources(used),
    };
  }

  /** The chosen option, then others of the pool by price, several zones of one type not before other types had their turn. */
  #ranked(node: number, chosen: number): number[] {
    const { catalogue } = this.#state.model;
    const own = this.#template(chosen);
    // A pool with minValues needs all of its types in the list, so that the values can be counted.
    const most = this.#state.model.minValues.concern(chosen) ? Number.POSITIVE_INFINITY : RANKED;
    const result = [chosen];
    const postponed: number[] = [];
    const perType = new Map<number, number>([[this.#typeOf(chosen), 1]]);
    for (const option of this.#sizes.holding(node, this.#sizes.options(node, true))) {
      if (option === chosen) continue;
      if ((catalogue.optionReservation[option] as number) >= 0 && this.#state.purse.affords(option) === 0) continue;
      if (!agree(own, this.#template(option))) continue;
      const type = this.#typeOf(option);
      const seen = perType.get(type) ?? 0;
      perType.set(type, seen + 1);
      (seen < PER_TYPE ? result : postponed).push(option);
      if (result.length === most) break;
    }
    return [...result, ...postponed].slice(0, most);
  }

  #template(option: number): Template {
    const { catalogue } = this.#state.model;
    return catalogue.templates[catalogue.optionTemplate[option] as number] as Template;
  }

  #typeOf(option: number): number {
    return this.#template(option).type;
  }

  /** Labels that pool and type left open, as they were settled for this node. */
  #settled(option: number): Requirement[] {
    const { labels, openKeys } = this.#template(option);
    return openKeys.map((key) => {
      const name = this.#state.model.keys.names[key] as string;
      const value = labels[key];
      return value === undefined
        ? { key: name, operator: 'DoesNotExist', values: [] }
        : { key: name, operator: 'In', values: [value] };
    });
  }

  #offering(option: number): RankedOffering {
    let known = this.#offerings.get(option);
    if (known === undefined) {
      const { catalogue, problem } = this.#state.model;
      const offering = catalogue.optionOffering[option];
      known = {
        instanceType: problem.instanceTypes[this.#typeOf(option)]?.name ?? '',
        zone: offering?.zone ?? '',
        capacityType: offering?.capacityType ?? 'on-demand',
        ...(offering?.reservationId === undefined ? {} : { reservationId: offering.reservationId }),
        price: catalogue.optionPrice[option] as number,
      };
      this.#offerings.set(option, known);
    }
    return known;
  }
}

function requirementsOf(
  offerings: readonly RankedOffering[],
  ofPool: readonly Requirement[],
  settled: readonly Requirement[],
): Requirement[] {
  const distinct = (values: readonly string[]): string[] => [...new Set(values)].sort();
  const narrowed: Requirement[] = [
    { key: INSTANCE_TYPE, operator: 'In', values: distinct(offerings.map((one) => one.instanceType)) },
    { key: ZONE, operator: 'In', values: distinct(offerings.map((one) => one.zone)) },
    { key: CAPACITY_TYPE, operator: 'In', values: distinct(offerings.map((one) => one.capacityType)) },
  ];
  const keys = new Set(narrowed.map((requirement) => requirement.key));
  return [...ofPool.filter((requirement) => !keys.has(requirement.key)), ...settled, ...narrowed];
}
