/** Turns a construction into a solution: ranks the offerings of each new node and numbers the pods. */
import type { Template } from './compile/catalogue.ts';
import { agree } from './compile/min-values.ts';
import type { PodClass } from './compile/model.ts';
import { typeLabel } from './compile/type-label.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from './compile/well-known.ts';
import type { Construction } from './construct.ts';
import type { Slices, Work } from './packing/work.ts';
import type { Requirement } from './problem.ts';
import type { NodeSizes } from './right-size.ts';
import type { ExistingPlacement, NewNode, RankedOffering } from './solution.ts';
import type { PlacementState } from './topology/placement-state.ts';

/** Offerings listed for each new node. */
const RANKED = 40;
/** Zones listed of one instance type before other types are listed. */
const PER_TYPE = 2;
/** List at least this many on-demand offerings if the pool has any: they remain when a zone runs out of spot. */
const ON_DEMAND = 5;

/** The nodes, placements and order of a solution. */
export interface Placements {
  readonly newNodes: NewNode[];
  readonly existing: ExistingPlacement[];
  readonly order: number[];
  /** How many pods of each class were placed; these are the first ones of its list. */
  readonly taken: Int32Array;
  readonly price: number;
}

/** Turns a construction into placements. */
export function* readOut(construction: Construction, sizes: NodeSizes, work: Work): Slices<Placements> {
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
  const ranking = new Ranking(state, sizes);
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

/** Describes new nodes; identical nodes share their lists. */
class Ranking {
  readonly #state: PlacementState;
  readonly #sizes: NodeSizes;
  readonly #offerings = new Map<number, RankedOffering>();
  readonly #memo = new Map<string, Omit<NewNode, 'pods'>>();
  /** The on-demand options of each list. */
  readonly #onDemand = new Map<Int32Array, Int32Array>();

  constructor(state: PlacementState, sizes: NodeSizes) {
    this.#state = state;
    this.#sizes = sizes;
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
    const pool = problem.pools[catalogue.optionPool[option] as number];
    return {
      pool: pool?.name ?? '',
      requirements: requirementsOf(
        ranked.map((one) => typeLabel(problem.instanceTypes[this.#typeOf(one)])),
        offerings,
        pool?.requirements ?? [],
        this.#settled(option),
      ),
      offerings,
      price: catalogue.optionPrice[option] as number,
      requests: dimensions.toResources(used),
    };
  }

  /**
   * The chosen option, then other options of the pool by price. More than a few zones of one type are listed after the
   * other types. No option exceeds the pool's remaining limits, because a launch may have to fall back on it.
   */
  #ranked(node: number, chosen: number): number[] {
    const { purse, model } = this.#state;
    const { catalogue } = model;
    const own = this.#template(chosen);
    // A pool with minValues needs all of its types in the list, so that their values can be counted.
    const counted = model.minValues.concern(chosen);
    const most = counted ? Number.POSITIVE_INFINITY : RANKED;
    const result = [chosen];
    const postponed: number[] = [];
    const perType = new Map<number, number>([[this.#typeOf(chosen), 1]]);
    const options = this.#sizes.options(node, true);
    this.#sizes.measure(node);
    for (let at = 0; at < options.length; at++) {
      const option = options[at] as number;
      if (option === chosen || !this.#sizes.fits(option)) continue;
      if ((catalogue.optionReservation[option] as number) >= 0 && purse.affords(option) === 0) continue;
      if (!counted && !purse.affordsInstead(chosen, option)) continue;
      if (!agree(own, this.#template(option))) continue;
      const type = this.#typeOf(option);
      const seen = perType.get(type) ?? 0;
      perType.set(type, seen + 1);
      (seen < PER_TYPE ? result : postponed).push(option);
      if (result.length === most) break;
    }
    for (let at = 0; at < postponed.length && result.length < most; at++) result.push(postponed[at] as number);
    return [...result, ...this.#onDemandBeside(result, options)];
  }

  /** On-demand options for the node measured last that are missing from a list full of spot options. */
  #onDemandBeside(ranked: readonly number[], options: Int32Array): number[] {
    const { purse } = this.#state;
    const chosen = ranked[0] as number;
    const own = this.#template(chosen);
    const listed = new Set(ranked.filter((option) => this.#isOnDemand(option)));
    if (listed.size >= ON_DEMAND) return [];
    let onDemand = this.#onDemand.get(options);
    if (onDemand === undefined) {
      onDemand = options.filter((option) => this.#isOnDemand(option));
      this.#onDemand.set(options, onDemand);
    }
    const added: number[] = [];
    for (let at = 0; at < onDemand.length && listed.size + added.length < ON_DEMAND; at++) {
      const option = onDemand[at] as number;
      if (listed.has(option) || !this.#sizes.fits(option) || !agree(own, this.#template(option))) continue;
      if (purse.affordsInstead(chosen, option)) added.push(option);
    }
    return added;
  }

  #isOnDemand(option: number): boolean {
    return this.#state.model.catalogue.optionOffering[option]?.capacityType === 'on-demand';
  }

  #template(option: number): Template {
    const { catalogue } = this.#state.model;
    return catalogue.templates[catalogue.optionTemplate[option] as number] as Template;
  }

  #typeOf(option: number): number {
    return this.#template(option).type;
  }

  /** Labels that pool and type left open, with the values chosen for this node. */
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
  types: readonly string[],
  offerings: readonly RankedOffering[],
  ofPool: readonly Requirement[],
  settled: readonly Requirement[],
): Requirement[] {
  const distinct = (values: readonly string[]): string[] => {
    const set = new Set(values);
    return set.size === 1 ? [...set] : [...set].sort();
  };
  const narrowed: Requirement[] = [
    { key: INSTANCE_TYPE, operator: 'In', values: distinct(types) },
    { key: ZONE, operator: 'In', values: distinct(offerings.map((one) => one.zone)) },
    { key: CAPACITY_TYPE, operator: 'In', values: distinct(offerings.map((one) => one.capacityType)) },
  ];
  const keys = new Set(narrowed.map((requirement) => requirement.key));
  return [...ofPool.filter((requirement) => !keys.has(requirement.key)), ...settled, ...narrowed];
}
