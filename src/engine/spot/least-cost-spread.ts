/**
 * Assigns nodes to places at the least extra price, so that as few as possible are in a full place, and as many as wanted
 * are on-demand. This is a minimum-cost flow: it carries out the chain of exchanges with the largest gain, until none
 * gains. Fixing a broken limit outweighs every price. Identical nodes move together.
 */
import type { Slices } from '../packing/work.ts';
import { type Exchange, ExchangeTable } from './exchange-table.ts';

/** Nodes that can be launched at the same places at the same prices. */
export interface NodeClass {
  readonly count: number;
  /** The place they are planned at, without extra price. */
  readonly start: string;
  /** Extra price by place, never negative. */
  readonly extra: ReadonlyMap<string, number>;
}

/** Where nodes can be. */
export interface Places {
  /** The place that is never full. */
  readonly onDemand: string;
  /** How many of these nodes should be there. */
  readonly wanted: number;
  /** How many of these nodes another place can take. */
  room(place: string): number;
}

/** The price of a broken limit: more than any chain of exchanges. */
const BROKEN = 1e6;
/** Yields to the event loop after this many classes. */
const ADDED_TOGETHER = 20;
/** Smaller gains are rounding errors. */
const NOTHING = 1e-7;

/** For each class, how many of its nodes are at each place. In slices, since each exchange considers all places. */
export function* leastCostSpread(
  classes: readonly NodeClass[],
  places: Places,
): Slices<readonly ReadonlyMap<string, number>[]> {
  const names = new Set([places.onDemand]);
  for (const { extra } of classes) for (const name of extra.keys()) names.add(name);
  yield;
  const spread = new Spread([...names], classes.length, places);
  for (const [index, nodeClass] of classes.entries()) {
    spread.add(nodeClass);
    if (index % ADDED_TOGETHER === 0) yield;
  }
  while (spread.improve()) yield;
  const found: ReadonlyMap<string, number>[] = [];
  for (const nodeClass of classes.keys()) {
    found.push(spread.whereabouts(nodeClass));
    if (nodeClass % ADDED_TOGETHER === 0) yield;
  }
  return found;
}

/** The index of the on-demand place. */
const ON_DEMAND = 0;

class Spread {
  readonly #names: readonly string[];
  readonly #numberOf: ReadonlyMap<string, number>;
  readonly #wanted: number;
  readonly #room: readonly number[];
  readonly #load: number[];
  readonly #table: ExchangeTable;
  /** The cheapest chain to each place: its price, and the place before. */
  readonly #cost: Float64Array;
  readonly #before: Int32Array;

  constructor(names: readonly string[], classes: number, places: Places) {
    this.#numberOf = new Map(names.map((name, number) => [name, number]));
    this.#names = names;
    this.#wanted = places.wanted;
    this.#room = names.map((name, place) => (place === ON_DEMAND ? Number.POSITIVE_INFINITY : places.room(name)));
    this.#load = names.map(() => 0);
    this.#cost = new Float64Array(names.length);
    this.#before = new Int32Array(names.length);
    this.#table = new ExchangeTable(names.length, classes);
  }

  /** Adds the next class at its planned place. */
  add({ start, count, extra }: NodeClass): void {
    const numberOf = (name: string): number => this.#numberOf.get(name) as number;
    const place = numberOf(start);
    const options = Array.from(extra, ([name, price]): [number, number] => [numberOf(name), price]);
    this.#table.add(options, place, count);
    this.#load[place] = (this.#load[place] as number) + count;
  }

  /** How many nodes of a class are at each place. */
  whereabouts(nodeClass: number): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const [place, name] of this.#names.entries()) {
      const count = this.#table.count(nodeClass, place);
      if (count > 0) counts.set(name, count);
    }
    return counts;
  }

  /** Carries out the chain with the largest gain; false if none gains. */
  improve(): boolean {
    this.#findChains();
    let end = -1;
    let least = -NOTHING;
    for (let place = 0; place < this.#names.length; place++) {
      if ((this.#before[place] as number) < 0) continue;
      const whole = (this.#cost[place] as number) + this.#costOfArriving(place);
      if (whole >= least) continue;
      least = whole;
      end = place;
    }
    if (end < 0) return false;
    this.#carryOut(this.#chainTo(end));
    return true;
  }

  /** The cheapest chain to each place from any start (Bellman-Ford with a queue, since some exchanges have a negative price). */
  #findChains(): void {
    const cost = this.#cost.fill(Number.POSITIVE_INFINITY);
    const before = this.#before.fill(-1);
    const queue: number[] = [];
    const queued = new Uint8Array(cost.length);
    for (let place = 0; place < cost.length; place++) {
      if (!this.#table.isUsed(place)) continue;
      cost[place] = this.#costOfLeaving(place);
      queue.push(place);
      queued[place] = 1;
    }
    for (let at = 0; at < queue.length; at++) {
      const from = queue[at] as number;
      queued[from] = 0;
      const prices = this.#table.prices(from);
      for (let to = 0; to < cost.length; to++) {
        const price = (cost[from] as number) + (prices[to] as number);
        if (price >= (cost[to] as number) - NOTHING) continue;
        cost[to] = price;
        before[to] = from;
        if (queued[to] === 1 || !this.#table.isUsed(to)) continue;
        queue.push(to);
        queued[to] = 1;
      }
    }
  }

  #chainTo(end: number): Exchange[] {
    const chain: Exchange[] = [];
    for (let to = end; (this.#before[to] as number) >= 0; to = this.#before[to] as number) {
      chain.unshift(this.#table.exchange(this.#before[to] as number, to));
    }
    return chain;
  }

  /** Moves as many nodes along the chain as available, and as its ends can use. */
  #carryOut(chain: readonly Exchange[]): void {
    const start = (chain[0] as Exchange).from;
    const end = (chain.at(-1) as Exchange).to;
    let amount = Math.min(...chain.map(({ nodeClass, from }) => this.#table.count(nodeClass, from)));
    if (this.#spare(start) < 0) amount = Math.min(amount, -this.#spare(start));
    if (end === ON_DEMAND && this.#missing() > 0) amount = Math.min(amount, this.#missing());
    // Only one at a time into a full place: each must be weighed against the limit it breaks.
    amount = Math.min(amount, Math.max(1, this.#spare(end)));
    for (const exchange of chain) this.#table.move(exchange, amount);
    this.#load[start] = (this.#load[start] as number) - amount;
    this.#load[end] = (this.#load[end] as number) + amount;
  }

  #costOfLeaving(place: number): number {
    if (place === ON_DEMAND) return this.#missing() >= 0 ? BROKEN : 0;
    return this.#spare(place) < 0 ? -BROKEN : 0;
  }

  #costOfArriving(place: number): number {
    if (place === ON_DEMAND) return this.#missing() > 0 ? -BROKEN : 0;
    return this.#spare(place) <= 0 ? BROKEN : 0;
  }

  #missing(): number {
    return this.#wanted - (this.#load[ON_DEMAND] as number);
  }

  #spare(place: number): number {
    return (this.#room[place] as number) - (this.#load[place] as number);
  }
}
