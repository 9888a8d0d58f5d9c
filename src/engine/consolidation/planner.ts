/**
 * Looks for steps over the whole fleet until none is left: empties, then nodes whose pods fit on others, then groups of nodes
 * that can be re-packed into cheaper ones. Nodes are taken from the most wasteful on, and pods go to those most worth keeping.
 */
import type { Slices, Work } from '../packing/work.ts';
import { templateOf } from './node-options.ts';
import { Receivers } from './receivers.ts';
import { Steps, type StepTools } from './steps.ts';

/** How to look. */
export interface PlannerOptions {
  readonly mergeSize: number;
  /** Whether each pod moves once at most: what took pods of others stays, and what was planned is not undone. */
  readonly direct: boolean;
  /** Worth of a unit of each resource. */
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
  /** Whether time ran out. */
  unfinished = false;

  constructor(tools: StepTools, { mergeSize, prices, work, direct }: PlannerOptions) {
    this.#direct = direct;
    this.#tools = tools;
    this.#prices = prices;
    this.#work = work;
    this.#mergeSize = mergeSize;
    this.steps = new Steps(tools);
  }

  /** Does all steps worth doing. */
  *run(): Slices<void> {
    for (;;) {
      const drained = yield* this.#drain();
      const repacked = this.unfinished ? false : yield* this.#repack();
      if (this.unfinished || !(drained || repacked)) return;
    }
  }

  /** Lets nodes go whose pods all fit on others, the most wasteful first. */
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

  /** Re-packs nodes of one pool and zone together, those that waste most of their price first. */
  *#repack(): Slices<boolean> {
    const { state } = this.#tools;
    const buckets = this.#buckets();
    yield;
    // What may be re-packed itself takes nothing now, or exchanges would have to wait for each other.
    const candidates = new Set(buckets.flat());
    const order = this.#keepOrder().filter((node) => !candidates.has(node));
    const receivers = new Receivers(state, this.#open(order));
    yield;
    let changed = false;
    // From few to many together: no node is moved that has no part in what a larger group saves.
    for (let size = 1; size <= this.#mergeSize; size *= 2) {
      for (const bucket of buckets) {
        if (yield* this.#repackBucket(bucket, size, receivers)) changed = true;
        if (this.unfinished) return changed;
      }
    }
    return changed;
  }

  /** Re-packs so many nodes at a time. */
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

  /** Whether pods of other nodes are to come to the node. */
  #hasTaken(node: number): boolean {
    const { state } = this.#tools;
    for (const pod of state.podsOn(node)) if (state.compiled.podHome[pod] !== node) return true;
    return false;
  }

  /** Nodes that are there, those first that waste least for what it costs to empty them. */
  #keepOrder(): Int32Array {
    const { state, allowances } = this.#tools;
    const { nodeCount, existingCount, gone } = state;
    const rate = new Float64Array(nodeCount);
    const nodes: number[] = [];
    for (let node = 0; node < nodeCount; node++) {
      if (gone[node] === 1) continue;
      nodes.push(node);
      // What was planned in this very plan can be undone without disrupting anyone.
      const disruption = node < existingCount ? allowances.disruptionCost(node) : 1 + state.podsOn(node).length;
      rate[node] = this.#mayGo(node) ? this.#waste([node]) / disruption : Number.NEGATIVE_INFINITY;
    }
    return Int32Array.from(nodes.sort((a, b) => (rate[a] as number) - (rate[b] as number) || a - b));
  }

  /** Those that take pods. */
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

  /** Price of nodes beyond the worth of what runs on them. */
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

  /** No more than this can be saved: the waste, or while slots of reservations are free, the price. */
  #atMost(nodes: readonly number[]): number {
    return this.#tools.state.supply.slotsLeft() ? this.#price(nodes) : this.#waste(nodes);
  }
}
