/**
 * Searches the whole fleet for steps until none is left: removes empty nodes, then nodes whose pods fit elsewhere, then
 * re-packs groups of nodes into cheaper ones. The most wasteful nodes are removed first, and pods move to the nodes most
 * worth keeping.
 */
import type { Slices, Work } from '../packing/work.ts';
import { templateOf } from './node-options.ts';
import { Receivers } from './receivers.ts';
import { Steps, type StepTools } from './steps.ts';

/** Options of the search. */
export interface PlannerOptions {
  readonly mergeSize: number;
  /** Whether each pod moves at most once: nodes that received pods stay, and planned steps are not undone. */
  readonly direct: boolean;
  /**
   * Whether wasteful nodes are replaced by smaller ones before any node is drained onto others. If few nodes are wasteful
   * this moves fewer pods: otherwise full nodes are drained to fill the wasteful ones.
   */
  readonly resizeFirst: boolean;
  /** Value of a unit of each resource. */
  readonly prices: Float64Array;
  readonly work: Work;
}

/** Plans on one state. */
export class Planner {
  readonly steps: Steps;
  readonly #tools: StepTools;
  readonly #prices: Float64Array;
  readonly #work: Work;
  readonly #mergeSize: number;
  readonly #direct: boolean;
  readonly #resizeFirst: boolean;
  /** Whether time ran out. */
  unfinished = false;

  constructor(tools: StepTools, { mergeSize, prices, work, direct, resizeFirst }: PlannerOptions) {
    this.#resizeFirst = resizeFirst;
    this.#direct = direct;
    this.#tools = tools;
    this.#prices = prices;
    this.#work = work;
    this.#mergeSize = mergeSize;
    this.steps = new Steps(tools);
  }

  /** Performs all steps worth doing. */
  *run(): Slices<void> {
    if (this.#resizeFirst) yield* this.#repack();
    while (!this.unfinished) {
      const drained = yield* this.#drain();
      const repacked = this.unfinished ? false : yield* this.#repack();
      if (!(drained || repacked)) return;
    }
  }

  /** Removes nodes whose pods all fit on other nodes, the most wasteful first. */
  *#drain(): Slices<boolean> {
    const { state } = this.#tools;
    const order = this.#keepOrder();
    yield;
    const receivers = new Receivers(state, this.#open(order));
    yield;
    let changed = false;
    for (let at = order.length - 1; at >= 0; at--) {
      const node = order[at] as number;
      if (!this.#mayGo(node)) continue;
      if (this.steps.attempt([node], receivers, false)) changed = true;
      if (yield* this.#pause(receivers)) return changed;
    }
    return changed;
  }

  /** Re-packs nodes of one pool and zone together, starting with those that waste the largest share of their price. */
  *#repack(): Slices<boolean> {
    const { state } = this.#tools;
    const buckets = this.#buckets();
    yield;
    // Nodes that may be re-packed receive no pods now; otherwise exchanges would wait for each other.
    const candidates = new Set(buckets.flat());
    const order = this.#keepOrder().filter((node) => !candidates.has(node));
    const receivers = new Receivers(state, this.#open(order));
    yield;
    let changed = false;
    // Small groups first: so no node is moved that contributes nothing to the savings of a larger group.
    for (let size = 1; size <= this.#mergeSize; size *= 2) {
      for (const bucket of buckets) {
        if (yield* this.#repackBucket(bucket, size, receivers)) changed = true;
        if (this.unfinished) return changed;
      }
    }
    return changed;
  }

  /** Re-packs this many nodes at a time. */
  *#repackBucket(bucket: readonly number[], size: number, receivers: Receivers): Slices<boolean> {
    const { state, criteria } = this.#tools;
    const left = bucket.filter((node) => (this.#direct ? this.#mayGo(node) : state.gone[node] === 0));
    let changed = false;
    for (let from = 0; from < left.length; from += size) {
      const group = left.slice(from, from + size);
      const triedBefore = size > 1 && group.length <= size / 2;
      if (triedBefore || this.#atMost(group) < criteria.wanted(this.#price(group), true)) continue;
      if (this.steps.attempt(group, receivers, true)) changed = true;
      if (yield* this.#pause(receivers)) return changed;
    }
    return changed;
  }

  *#pause(receivers: Receivers): Slices<boolean> {
    const { newNodes } = this.#tools;
    const units = 20 + receivers.looked + newNodes.looked;
    receivers.looked = 0;
    newNodes.looked = 0;
    if (this.#work.spend(units)) {
      yield;
      if (this.#work.over()) this.unfinished = true;
    }
    return this.unfinished;
  }

  #mayGo(node: number): boolean {
    const { state, allowances } = this.#tools;
    if (state.gone[node] === 1) return false;
    if (node >= state.existingCount) return !this.#direct;
    return allowances.blocked(node) === undefined && !(this.#direct && this.#hasTaken(node));
  }

  /** Whether the plan moves pods of other nodes to this node. */
  #hasTaken(node: number): boolean {
    const { state } = this.#tools;
    for (const pod of state.podsOn(node)) if (state.compiled.podHome[pod] !== node) return true;
    return false;
  }

  /** Remaining nodes, those first that waste least compared with the cost of draining them. */
  #keepOrder(): Int32Array {
    const { state, allowances } = this.#tools;
    const { nodeCount, existingCount, gone } = state;
    const rate = new Float64Array(nodeCount);
    const nodes: number[] = [];
    for (let node = 0; node < nodeCount; node++) {
      if (gone[node] === 1) continue;
      nodes.push(node);
      // A node that only this plan opened can be given up without disrupting any pod.
      const disruption = node < existingCount ? allowances.disruptionCost(node) : 1 + state.podsOn(node).length;
      rate[node] = this.#mayGo(node) ? this.#waste([node]) / disruption : Number.NEGATIVE_INFINITY;
    }
    return Int32Array.from(nodes.sort((a, b) => (rate[a] as number) - (rate[b] as number) || a - b));
  }

  /** The nodes that accept pods. */
  #open(order: Int32Array): Int32Array {
    const { compiled, existingCount } = this.#tools.state;
    return order.filter((node) => node >= existingCount || compiled.fleet.nodes[node]?.closed !== true);
  }

  /** Nodes that could be worth re-packing, by pool and zone. */
  #buckets(): number[][] {
    const { state, criteria } = this.#tools;
    const { model, compiled, existingCount, nodeOption } = state;
    const buckets = new Map<string, { node: number; share: number }[]>();
    for (let node = 0; node < state.nodeCount; node++) {
      if (!this.#mayGo(node)) continue;
      const parties = this.steps.standsFor(node);
      if (parties.length === 0 || parties.some((one) => compiled.fleet.nodes[one]?.settling === true)) continue;
      const price = this.#price([node]);
      if (this.#atMost([node]) < criteria.wanted(price, true)) continue;
      const option = nodeOption[node] as number;
      const key =
        node < existingCount
          ? `${compiled.nodePool[node]}/${compiled.fleet.nodes[node]?.zone}`
          : `${templateOf(model, option).pool}/${model.catalogue.optionOffering[option]?.zone}`;
      const bucket = buckets.get(key) ?? [];
      bucket.push({ node, share: this.#waste([node]) / price });
      buckets.set(key, bucket);
    }
    return [...buckets]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, bucket]) => bucket.sort((a, b) => b.share - a.share || a.node - b.node).map(({ node }) => node));
  }

  #price(nodes: readonly number[]): number {
    const { nodePrice } = this.#tools.state;
    return nodes.reduce((sum, node) => sum + (nodePrice[node] as number), 0);
  }

  /** Price of nodes less the value of what runs on them. */
  #waste(nodes: readonly number[]): number {
    const { capacity, free } = this.#tools.state;
    const size = this.#prices.length;
    let sum = this.#price(nodes);
    for (const node of nodes) {
      for (let at = node * size; at < (node + 1) * size; at++) {
        sum -= (this.#prices[at - node * size] as number) * ((capacity[at] as number) - (free[at] as number));
      }
    }
    return sum;
  }

  /** Upper bound on the savings: the waste, or the whole price while reservation slots are free. */
  #atMost(nodes: readonly number[]): number {
    return this.#tools.state.supply.slotsLeft() ? this.#price(nodes) : this.#waste(nodes);
  }
}
