/** Whether an exchange of nodes is worth its disruption. */
import type { Allowances } from './allowances.ts';
import type { ConsolidationOptions } from './fleet.ts';
import type { FleetState } from './fleet-state.ts';
import { highestPrices } from './launch-prices.ts';
import type { MarketLadder } from './market-ladder.ts';
import { optionsFor, templateOf } from './node-options.ts';
import type { KeptCause } from './plan.ts';

/** Rounding errors of sums of prices are not savings. */
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

  /** What an exchange must save at the least if it launches nodes. */
  wanted(price: number, launches: boolean): number {
    return Math.max(this.#minSavings, launches ? this.#minShare * price : 0, CENT_FRACTION);
  }

  /** Why nodes that cost `price` should not make way for the new nodes; undefined when they should. */
  objection(leaving: readonly number[], news: readonly number[], price: number): KeptCause | undefined {
    const { nodePrice, existingCount } = this.#state;
    const newPrice = news.reduce((sum, node) => sum + (nodePrice[node] as number), 0);
    const savings = price - newPrice;
    // An empty node that goes needs no reason but that it is empty.
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
   * Spot makes way for as many spot nodes or more only when enough offerings would do that are cheaper, or what comes would be taken
   * sooner than what goes. Where fewer come, there are fewer to be taken.
   */
  #tooFewOfferings(leaving: readonly number[], news: readonly number[], price: number): KeptCause | undefined {
    const { model, compiled, nodeOption } = this.#state;
    // What is only planned yet has no entry in the fleet; it is judged with the nodes that it is to stand in for.
    const isSpot = (node: number): boolean => compiled.fleet.nodes[node]?.capacityType === 'spot';
    if (news.length < leaving.length || !leaving.some(isSpot)) return undefined;
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

  /** Balanced pools: the share of the pool's price that is saved against the share of the pool that is disrupted. */
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
