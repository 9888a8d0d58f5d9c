/**
 * Chooses the zone (the cell, over all topology keys) of every pod with zone rules before nodes are packed, so that
 * packing can find good nodes in each zone without exceeding skews. Pods are planned in an order that is legal step by
 * step; carrying the plan out in the same order keeps it legal.
 */
import type { Model, PodClass } from '../compile/model.ts';
import type { Market, Places } from '../packing/market.ts';
import type { Slices } from '../packing/work.ts';
import { ruleHoldsIn } from './placement-state.ts';
import { HOST, type TopologyRule } from './rules.ts';

/** Planned pods in order: class and cell of each. */
export interface DomainPlan {
  readonly classes: number[];
  readonly cells: number[];
}

/** How many pods of a class to plan, and under which filter. */
export interface PlanRequest {
  readonly podClass: PodClass;
  readonly count: number;
  readonly filter: number;
}

/** Plans all pods that have a legal cell; the others are left for a later round. */
export function planDomains(
  model: Model,
  market: Market,
  counters: { counts: (Int32Array | undefined)[]; totals: Int32Array },
  requests: readonly PlanRequest[],
  slack: number,
): Slices<DomainPlan> {
  return new DomainPlanner(model, market, counters, slack).plan(requests);
}

class DomainPlanner {
  readonly #model: Model;
  readonly #market: Market;
  readonly #counts: (Int32Array | undefined)[];
  readonly #totals: Int32Array;
  readonly #slack: number;
  readonly #isSpread: Uint8Array;
  readonly #plan: DomainPlan = { classes: [], cells: [] };

  constructor(
    model: Model,
    market: Market,
    counters: { counts: (Int32Array | undefined)[]; totals: Int32Array },
    slack: number,
  ) {
    this.#model = model;
    this.#market = market;
    this.#counts = counters.counts;
    this.#totals = counters.totals;
    this.#slack = slack;
    this.#isSpread = new Uint8Array(model.groups.length);
    for (const { topology } of model.classes) {
      for (const rule of topology.rules) if (rule.kind === 'spread') this.#isSpread[rule.group] = 1;
    }
  }

  *plan(requests: readonly PlanRequest[]): Slices<DomainPlan> {
    let open = requests.map((request) => ({ ...request }));
    for (;;) {
      const before = this.#plan.classes.length;
      for (const request of open) {
        const places = this.#market.places(request.podClass, request.filter);
        while (request.count > 0) {
          const cell = this.#bestCell(request.podClass, places);
          if (cell < 0) break;
          this.#record(request.podClass, cell);
          request.count--;
          if ((this.#plan.classes.length & 2047) === 0) yield;
        }
      }
      open = open.filter((request) => request.count > 0);
      if (open.length === 0 || this.#plan.classes.length === before) return this.#plan;
    }
  }

  /**
   * The legal cell that satisfies most preferences within the allowed price, then affects other spreads least, then is
   * cheapest. Only pools of the highest weight with a legal cell are considered: pools of lower weight are for pods that
   * the rules keep out of those.
   */
  #bestCell(podClass: PodClass, places: Places): number {
    const { rules, wishes, counted } = podClass.topology;
    const { cells, prices } = this.#inBestTier(rules, places);
    let best = -1;
    let bestRegret = 0;
    let bestHarm = 0;
    let bestPrice = 0;
    const ceiling = wishes.length > 0 ? this.#cheapestLegal(rules, cells, prices) * (1 + this.#slack) : 0;
    for (let position = 0; position < cells.length; position++) {
      const cell = cells[position] as number;
      const price = prices[position] as number;
      if (!this.#legal(rules, cell)) continue;
      const regret = wishes.length > 0 && price <= ceiling ? this.#regret(podClass, cell) : wishes.length * 1000;
      const harm = this.#harm(counted, cell);
      if (
        best < 0 ||
        regret < bestRegret ||
        (regret === bestRegret && (harm < bestHarm || (harm === bestHarm && price < bestPrice)))
      ) {
        best = cell;
        bestRegret = regret;
        bestHarm = harm;
        bestPrice = price;
      }
    }
    return best;
  }

  /** The places of the best tier in which some cell is legal. */
  #inBestTier(rules: readonly TopologyRule[], places: Places): Pick<Places, 'cells' | 'prices'> {
    const { cells, prices, tiers, tier: first } = places;
    if (tiers.every((tier) => tier === first)) return places;
    let best = this.#model.tierCount;
    for (let position = 0; position < cells.length; position++) {
      if ((tiers[position] as number) < best && this.#legal(rules, cells[position] as number))
        best = tiers[position] as number;
    }
    const isBest = (_: number, position: number): boolean => tiers[position] === best;
    return { cells: cells.filter(isBest), prices: prices.filter(isBest) };
  }

  #cheapestLegal(rules: readonly TopologyRule[], cells: Int32Array, prices: Float64Array): number {
    let least = Number.POSITIVE_INFINITY;
    for (let position = 0; position < cells.length; position++) {
      if (this.#legal(rules, cells[position] as number)) least = Math.min(least, prices[position] as number);
    }
    return least;
  }

  #legal(rules: readonly TopologyRule[], cell: number): boolean {
    for (const rule of rules) if (!this.#holds(rule, cell)) return false;
    return true;
  }

  #holds(rule: TopologyRule, cell: number): boolean {
    if (rule.key === HOST) return true;
    const domain = (this.#model.cellDomains[cell] as Int32Array)[rule.key] as number;
    if (domain < 0) return rule.kind === 'anti' || rule.kind === 'inverse';
    return ruleHoldsIn(rule, domain, this.#counts[rule.group] as Int32Array, this.#totals);
  }

  #regret(podClass: PodClass, cell: number): number {
    let sum = 0;
    for (const { rule, weight } of podClass.topology.wishes) if (!this.#holds(rule, cell)) sum += weight;
    return sum;
  }

  /** How many pods the cell already holds, as counted by the spreads that would count this pod. */
  #harm(counted: Int32Array, cell: number): number {
    let sum = 0;
    for (let position = 0; position < counted.length; position++) {
      const group = counted[position] as number;
      const counts = this.#counts[group];
      if (counts === undefined || this.#isSpread[group] === 0) continue;
      const key = (this.#model.groups[group] as { key: number }).key;
      const domain = (this.#model.cellDomains[cell] as Int32Array)[key] as number;
      if (domain >= 0) sum += counts[domain] as number;
    }
    return sum;
  }

  #record(podClass: PodClass, cell: number): void {
    this.#plan.classes.push(podClass.index);
    this.#plan.cells.push(cell);
    const { counted } = podClass.topology;
    for (let position = 0; position < counted.length; position++) {
      const group = counted[position] as number;
      const counts = this.#counts[group];
      if (counts === undefined) continue;
      const key = (this.#model.groups[group] as { key: number }).key;
      const domain = (this.#model.cellDomains[cell] as Int32Array)[key] as number;
      if (domain < 0) continue;
      counts[domain] = (counts[domain] as number) + 1;
      this.#totals[group] = (this.#totals[group] as number) + 1;
    }
  }
}
