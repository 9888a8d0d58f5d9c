/** Decides whether an exchange of nodes is worth its disruption. */
import type { Allowances } from './allowances.ts';
import type { ConsolidationOptions } from './fleet.ts';
import type { FleetState } from './fleet-state.ts';
import { highestPrices } from './launch-prices.ts';
import type { MarketLadder } from './market-ladder.ts';
import { optionsFor, templateOf } from './node-options.ts';
import type { KeptCause } from './plan.ts';

/** Resources that follow from node settings, not from the size of the machine. */
const NOT_OF_SIZE: ReadonlySet<string> = new Set(['pods', 'ephemeral-storage']);
/** Savings below this are rounding errors. */
const CENT_FRACTION = 1e-9;

/** The criteria of one plan. */
export class Criteria {
  readonly #state: FleetState;
  readonly #allowances: Allowances;
  readonly #ladder: MarketLadder;
  readonly #minSavings: number;
  readonly #minShare: number;
  readonly #minPerDisruption: number;
  readonly #spotDiversity: number;
  readonly #balancedScore: number;
  /** By pool: price and disruption cost of all its nodes when planning began. */
  readonly #totals = new Map<number, { price: number; disruption: number }>();

  constructor(state: FleetState, allowances: Allowances, ladder: MarketLadder, options: ConsolidationOptions) {
    this.#state = state;
    this.#allowances = allowances;
    this.#ladder = ladder;
    this.#minSavings = options.minSavings ?? 0;
    this.#minShare = options.minSavingsShare ?? 0.05;
    this.#minPerDisruption = options.minSavingsPerDisruption ?? 0;
    this.#spotDiversity = options.spotDiversity ?? 15;
    this.#balancedScore = options.balancedScore ?? 0.5;
    for (let node = 0; node < state.existingCount; node++) {
      const pool = state.compiled.nodePool[node] as number;
      const total = this.#totals.get(pool) ?? { price: 0, disruption: 0 };
      total.price += state.nodePrice[node] as number;
      total.disruption += allowances.disruptionCost(node);
      this.#totals.set(pool, total);
    }
  }

  /** The least amount an exchange must save, depending on whether it launches nodes. */
  wanted(price: number, launches: boolean): number {
    return Math.max(this.#minSavings, launches ? this.#minShare * price : 0, CENT_FRACTION);
  }

  /** Why nodes that cost `price` should not be replaced by the new nodes; undefined if they should. */
  objection(leaving: readonly number[], news: readonly number[], price: number): KeptCause | undefined {
    const { nodePrice, existingCount } = this.#state;
    const newPrice = news.reduce((sum, node) => sum + (nodePrice[node] as number), 0);
    const savings = price - newPrice;
    // An empty node may always be removed.
    const empty =
      news.length === 0 &&
      leaving.every((node) => node < existingCount && this.#allowances.homePods(node).length === 0);
    const fromFleet = leaving.filter((node) => node < existingCount);
    const disruption = fromFleet.reduce((sum, node) => sum + this.#allowances.disruptionCost(node), 0);
    const wanted = Math.max(this.wanted(price, news.length > 0), this.#minPerDisruption * disruption);
    if (!empty && savings < wanted) {
      return savings <= CENT_FRACTION
        ? { kind: 'price', price, cheapest: newPrice }
        : { kind: 'small-saving', savings, wanted };
    }
    if (empty) return undefined;
    return this.#tooFewOfferings(leaving, news, price) ?? this.#outOfBalance(fromFleet, price, savings);
  }

  /**
   * Spot nodes are replaced by as many or more spot nodes only if enough cheaper offerings are usable; otherwise the new
   * nodes would be interrupted sooner than the old ones. The rule does not apply to fewer new nodes, as fewer can be
   * interrupted. Nor does it apply if the new nodes have at most half of the CPU, memory and devices of the old ones: such
   * an exchange follows the load, not the prices, and can only be repeated as often as a machine can be halved.
   */
  #tooFewOfferings(leaving: readonly number[], news: readonly number[], price: number): KeptCause | undefined {
    const { model, compiled, nodeOption } = this.#state;
    // Nodes that are only planned have no entry in the fleet; they are judged with the nodes they will replace.
    const isSpot = (node: number): boolean => compiled.fleet.nodes[node]?.capacityType === 'spot';
    if (news.length < leaving.length || !leaving.some(isSpot) || this.#halves(leaving, news)) return undefined;
    const most = highestPrices(this.#state, news, price, this);
    for (const [index, node] of news.entries()) {
      const { optionOffering, optionPrice } = model.catalogue;
      if (optionOffering[nodeOption[node] as number]?.capacityType !== 'spot') continue;
      const cheaper = optionsFor(this.#state, this.#ladder, node, { samePool: true }).filter(
        (option) =>
          optionOffering[option]?.capacityType === 'spot' && (optionPrice[option] as number) <= (most[index] as number),
      );
      const offerings = new Set(
        cheaper.map((option) => `${templateOf(model, option).type}/${optionOffering[option]?.zone}`),
      ).size;
      if (offerings < this.#spotDiversity) {
        return { kind: 'spot-diversity', offerings, wanted: this.#spotDiversity };
      }
    }
    return undefined;
  }

  #halves(leaving: readonly number[], news: readonly number[]): boolean {
    const { capacity, model } = this.#state;
    const { dimensions } = model;
    const total = (nodes: readonly number[], column: number): number =>
      nodes.reduce((sum, node) => sum + (capacity[node * dimensions.size + column] as number), 0);
    for (let column = 0; column < dimensions.size; column++) {
      if (dimensions.isAttachment(column) || NOT_OF_SIZE.has(dimensions.name(column))) continue;
      if (2 * total(news, column) > total(leaving, column)) return false;
    }
    return true;
  }

  /** Balanced pools: compares the share of the pool's price that is saved with the share of the pool that is disrupted. */
  #outOfBalance(leaving: readonly number[], price: number, savings: number): KeptCause | undefined {
    const { compiled, nodePrice } = this.#state;
    const balanced = new Set(
      leaving
        .filter((node) => this.#allowances.policyOf(node) === 'Balanced')
        .map((node) => compiled.nodePool[node] as number),
    );
    for (const pool of balanced) {
      const mine = leaving.filter((node) => compiled.nodePool[node] === pool);
      const cost = mine.reduce((sum, node) => sum + (nodePrice[node] as number), 0);
      const disruption = mine.reduce((sum, node) => sum + this.#allowances.disruptionCost(node), 0);
      const total = this.#totals.get(pool) ?? { price: 0, disruption: 0 };
      if (total.price <= 0 || price <= 0) continue;
      const score = (savings * (cost / price)) / total.price / (disruption / total.disruption);
      if (score < this.#balancedScore) return { kind: 'balanced', score, wanted: this.#balancedScore };
    }
    return undefined;
  }
}
