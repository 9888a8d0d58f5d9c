/**
 * Exchanges pods between cells once every pod has one, so that memory-heavy pods are where memory is cheap, and large pods
 * where large machines are. Only pods of one kind are exchanged, so each domain has as many of a kind as before at every
 * step of the plan.
 */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import type { Model, PodClass } from '../compile/model.ts';
import type { Market } from '../packing/market.ts';
import type { Slices, Work } from '../packing/work.ts';
import { type CheapestOffers, cheapestOffers, pricesFor, worth } from '../unit-prices.ts';
import type { DomainPlan, PlanRequest } from './domain-plan.ts';

/** Rounds of the price search, first with a sample of the pods and then with all of them. */
const SAMPLE_ROUNDS = 30;
const ROUNDS = 4;
/** The approximate size of the sample, and the minimum number of kinds in it if there are as many. */
const SAMPLE_PODS = 500;
const SAMPLE_KINDS = 16;
/** A plan is changed only for at least this relative gain. */
const MIN_GAIN = 0.001;

/** Pods of one kind, by cell. */
type Peers = number[][];

/** The pods to exchange: those planned for one tier of pools. */
export interface ExchangeScope {
  readonly plan: DomainPlan;
  readonly requests: readonly PlanRequest[];
  readonly tier: number;
}

/** Exchanges pods of a plan if that reduces the total price of the machines in all cells. */
export function* exchangeCells(
  model: Model,
  market: Market,
  { plan, requests, tier }: ExchangeScope,
  work: Work,
): Slices<void> {
  for (const [filter, own] of Map.groupBy(requests, (request) => request.filter)) {
    // Classes of one kind differ in their requests. If no kind has two classes, an exchange changes nothing.
    if (new Set(own.map(({ podClass }) => podClass.kind)).size === own.length) continue;
    const classes = new Set(own.map(({ podClass }) => podClass.index));
    const positions = [...plan.classes.keys()].filter((position) => classes.has(plan.classes[position] as number));
    const mayGo = (podClass: PodClass, wanted: readonly number[]): boolean => {
      const { cells, tiers } = market.places(podClass, filter);
      return wanted.every((cell) => tiers[cells.indexOf(cell)] === tier);
    };
    const { options } = model.admitted[filter] as Admitted;
    const { optionPool } = model.catalogue;
    const isSold = (option: number): boolean =>
      model.poolTier[optionPool[option] as number] === tier && market.sells(option) && hasBit(options, option);
    yield* new CellExchange(model, plan, positions, mayGo).run(isSold, work);
  }
}

class CellExchange {
  readonly #model: Model;
  readonly #plan: DomainPlan;
  /** By pod: its position in the plan. */
  readonly #positions: readonly number[];
  readonly #cells: readonly number[];
  readonly #peers: readonly Peers[];
  /** By pod: its requests, and their price in each cell. */
  readonly #requests: Float64Array;
  readonly #costs: Float64Array;
  /** By cell: the options available there. */
  #offers: readonly CheapestOffers[] = [];

  constructor(
    model: Model,
    plan: DomainPlan,
    positions: readonly number[],
    mayGo: (podClass: PodClass, cells: readonly number[]) => boolean,
  ) {
    const { size } = model.dimensions;
    const cells = [...new Set(positions.map((position) => plan.cells[position] as number))].sort((a, b) => a - b);
    this.#model = model;
    this.#plan = plan;
    this.#positions = positions;
    this.#cells = cells;
    this.#requests = new Float64Array(positions.length * size);
    this.#costs = new Float64Array(positions.length * cells.length);
    const byKind = new Map<number, Peers>();
    positions.forEach((position, pod) => {
      const podClass = model.classes[plan.classes[position] as number] as PodClass;
      this.#requests.set(podClass.requests, pod * size);
      // A pod that cannot be in every cell is not exchanged: it has no peers.
      const kind = mayGo(podClass, cells) ? podClass.kind : -1 - pod;
      const peers = byKind.get(kind) ?? cells.map(() => []);
      byKind.set(kind, peers);
      peers[cells.indexOf(plan.cells[position] as number)]?.push(pod);
    });
    this.#peers = [...byKind.values()];
  }

  /** Exchanges pods, using only these options. */
  *run(isSold: (option: number) => boolean, work: Work): Slices<void> {
    if (this.#cells.length < 2) return;
    this.#offers = this.#cells.map((cell) => {
      const isHere = (option: number): boolean => this.#model.optionCell[option] === cell && isSold(option);
      return withoutBeaten(this.#model, cheapestOffers(this.#model, isHere));
    });
    const before = this.#measure(this.#peers);
    if (before.sum * (1 - MIN_GAIN) <= this.#leastSum(before.demand)) return;
    const sample = this.#sample();
    let prices = this.#measure(sample).prices;
    for (let round = 1; round <= SAMPLE_ROUNDS; round++) {
      yield* this.#exchange(sample, prices, work);
      prices = mixed(prices, this.#measure(sample).prices, round);
    }
    const planned = copyOf(this.#peers);
    let best = planned;
    let least = before.sum * (1 - MIN_GAIN);
    for (let round = 1; round <= ROUNDS; round++) {
      yield* this.#exchange(this.#peers, prices, work);
      const { prices: latest, sum } = this.#measure(this.#peers);
      if (sum < least) {
        least = sum;
        best = copyOf(this.#peers);
      }
      prices = mixed(prices, latest, SAMPLE_ROUNDS + round);
    }
    if (best !== planned) this.#write(planned, best);
  }

  /** The lowest price of all pods if cells did not matter. */
  #leastSum(demand: readonly Float64Array[]): number {
    const everywhere = new Map<number, number>();
    for (const offers of this.#offers) {
      for (const [template, price] of offers) {
        everywhere.set(template, Math.min(price, everywhere.get(template) ?? Number.POSITIVE_INFINITY));
      }
    }
    const sum = (demand[0] as Float64Array).map((_, column) =>
      demand.reduce((total, own) => total + (own[column] as number), 0),
    );
    return worth(pricesFor(this.#model, sum, everywhere), sum);
  }

  /** Some of the kinds, and of large kinds some of the pods. */
  #sample(): Peers[] {
    const stride = Math.min(this.#positions.length / SAMPLE_PODS, this.#peers.length / SAMPLE_KINDS);
    const kinds = everyNth(this.#peers, stride);
    const count = kinds.reduce((sum, peers) => sum + peers.reduce((own, { length }) => own + length, 0), 0);
    return kinds.map((peers) => peers.map((pods) => everyNth(pods, count / SAMPLE_PODS)));
  }

  /** Exchanges pods between every two cells, until no exchange is cheaper at these prices. */
  *#exchange(all: readonly Peers[], prices: readonly Float64Array[], work: Work): Slices<void> {
    const { size } = this.#model.dimensions;
    const costs = this.#costs;
    const count = prices.length;
    for (const peers of all) {
      let pods = 0;
      for (const own of peers) {
        for (const pod of own) {
          for (let cell = 0; cell < count; cell++) {
            costs[pod * count + cell] = worth(prices[cell] as Float64Array, this.#requests, pod * size);
          }
        }
        pods += own.length;
      }
      for (let a = 0; a < count; a++) for (let b = a + 1; b < count; b++) exchangeBetween(peers, a, b, costs);
      if (work.spend(pods * count)) yield;
    }
  }

  #measure(all: readonly Peers[]): Measure {
    const { size } = this.#model.dimensions;
    const demand = this.#cells.map(() => new Float64Array(size));
    for (const peers of all) {
      peers.forEach((pods, cell) => {
        const own = demand[cell] as Float64Array;
        for (const pod of pods) {
          for (let column = 0; column < size; column++) {
            own[column] = (own[column] as number) + (this.#requests[pod * size + column] as number);
          }
        }
      });
    }
    const prices = demand.map((own, cell) => pricesFor(this.#model, own, this.#offers[cell] as CheapestOffers));
    const sum = prices.reduce((total, own, cell) => total + worth(own, demand[cell] as Float64Array), 0);
    return { demand, prices, sum };
  }

  #write(before: readonly Peers[], after: readonly Peers[]): void {
    const { classes } = this.#plan;
    const classOf = this.#positions.map((position) => classes[position] as number);
    before.forEach((peers, kind) => {
      peers.forEach((pods, cell) => {
        pods.forEach((pod, at) => {
          classes[this.#positions[pod] as number] = classOf[after[kind]?.[cell]?.[at] as number] as number;
        });
      });
    });
  }
}

/** By cell: the demand and the unit price of each resource; and the total price. */
interface Measure {
  readonly demand: readonly Float64Array[];
  readonly prices: readonly Float64Array[];
  readonly sum: number;
}

/** Redistributes the pods of two cells: the first gets those that are cheapest there compared with the second. */
function exchangeBetween(peers: Peers, a: number, b: number, costs: Float64Array): void {
  const count = peers.length;
  const ofA = peers[a] as number[];
  const ofB = peers[b] as number[];
  const more = (pod: number): number => (costs[pod * count + a] as number) - (costs[pod * count + b] as number);
  let most = Number.NEGATIVE_INFINITY;
  for (const pod of ofA) most = Math.max(most, more(pod));
  if (!ofB.some((pod) => more(pod) < most - 1e-12)) return;
  const both = [...ofA, ...ofB].sort((x, y) => more(x) - more(y) || x - y);
  peers[a] = both.slice(0, ofA.length);
  peers[b] = both.slice(ofA.length);
}

function copyOf(all: readonly Peers[]): Peers[] {
  return all.map((peers) => peers.map((pods) => [...pods]));
}

function everyNth<Item>(items: readonly Item[], stride: number): Item[] {
  const step = Math.max(1, Math.floor(stride));
  return items.filter((_, index) => index % step === 0);
}

/** The average of the prices of all rounds. With the latest prices alone, the same pods would move back and forth. */
function mixed(
  before: readonly Float64Array[],
  latest: readonly Float64Array[],
  rounds: number,
): readonly Float64Array[] {
  return before.map((own, cell) =>
    own.map((price, column) => price + (((latest[cell] as Float64Array)[column] as number) - price) / (rounds + 1)),
  );
}

/** Drops offers that another one beats: at least as much of every resource for the same money. */
function withoutBeaten({ catalogue: { alloc, dimensions } }: Model, offers: CheapestOffers): CheapestOffers {
  const beats = ([a, priceA]: [number, number], [b, priceB]: [number, number]): boolean => {
    for (let column = 0; column < dimensions; column++) {
      const hasA = alloc[a * dimensions + column] as number;
      const hasB = alloc[b * dimensions + column] as number;
      if (hasA * priceB < hasB * priceA) return false;
    }
    return true;
  };
  let kept: [number, number][] = [];
  for (const offer of offers) {
    if (kept.some((other) => beats(other, offer))) continue;
    kept = [...kept.filter((other) => !beats(offer, other)), offer];
  }
  return new Map(kept);
}
