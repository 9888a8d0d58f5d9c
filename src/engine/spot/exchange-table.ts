/** Tracks where nodes of each class are, and for each pair of places the class that can move most cheaply from one to the other. */

/** A move of one node of a class between two places. */
export interface Exchange {
  readonly nodeClass: number;
  readonly from: number;
  readonly to: number;
}

/** The places where nodes of a class can be, with the extra price there. */
export type PlacePrices = readonly (readonly [place: number, extra: number])[];

export class ExchangeTable {
  readonly #places: number;
  readonly #options: PlacePrices[] = [];
  readonly #extra: Float64Array;
  readonly #count: Int32Array;
  /** By place: the classes with nodes there. */
  readonly #here: Set<number>[];
  /** By pair of places: the price of the cheapest exchange, and its class. Filled on demand, as nodes leave only a few places. */
  readonly #price = new Map<number, Float64Array>();
  readonly #cheapest = new Map<number, Int32Array>();
  readonly #never: Float64Array;

  constructor(places: number, classes: number) {
    this.#places = places;
    // Places that a class cannot use have an infinite price.
    this.#extra = new Float64Array(classes * places).fill(Number.POSITIVE_INFINITY);
    this.#count = new Int32Array(classes * places);
    this.#here = Array.from({ length: places }, () => new Set<number>());
    this.#never = new Float64Array(places).fill(Number.POSITIVE_INFINITY);
  }

  /** Adds the next class: the places its nodes can be, and the place this many of them are now. */
  add(options: PlacePrices, place: number, count: number): void {
    const nodeClass = this.#options.push(options) - 1;
    for (const [to, extra] of options) this.#extra[nodeClass * this.#places + to] = extra;
    this.put(nodeClass, place, count);
  }

  /** Whether any node is at the place. */
  isUsed(place: number): boolean {
    return (this.#here[place] as Set<number>).size > 0;
  }

  count(nodeClass: number, place: number): number {
    return this.#count[nodeClass * this.#places + place] as number;
  }

  /** By place: the lowest price of moving a node there from this one. */
  prices(from: number): Float64Array {
    return this.#price.get(from) ?? this.#never;
  }

  /** The cheapest exchange from one place to another. */
  exchange(from: number, to: number): Exchange {
    return { nodeClass: this.#cheapest.get(from)?.[to] as number, from, to };
  }

  /** Adds nodes of a class to a place. */
  put(nodeClass: number, place: number, count: number): void {
    const at = nodeClass * this.#places + place;
    if (this.#count[at] === 0) {
      this.#here[place]?.add(nodeClass);
      for (const [to] of this.#options[nodeClass] ?? []) if (to !== place) this.#offer(nodeClass, place, to);
    }
    this.#count[at] = (this.#count[at] as number) + count;
  }

  move({ nodeClass, from, to }: Exchange, count: number): void {
    this.put(nodeClass, to, count);
    const at = nodeClass * this.#places + from;
    this.#count[at] = (this.#count[at] as number) - count;
    if (this.#count[at] === 0) this.#leave(nodeClass, from);
  }

  /** The last node of a class has left a place: finds the next cheapest class where it was the cheapest. */
  #leave(nodeClass: number, place: number): void {
    const here = this.#here[place] as Set<number>;
    here.delete(nodeClass);
    const cheapest = this.#cheapest.get(place);
    for (const [to] of this.#options[nodeClass] ?? []) {
      if (cheapest?.[to] !== nodeClass) continue;
      cheapest[to] = -1;
      this.prices(place)[to] = Number.POSITIVE_INFINITY;
      for (const other of here) this.#offer(other, place, to);
    }
  }

  #offer(nodeClass: number, from: number, to: number): void {
    const row = nodeClass * this.#places;
    const price = (this.#extra[row + to] as number) - (this.#extra[row + from] as number);
    let prices = this.#price.get(from);
    let cheapest = this.#cheapest.get(from);
    if (prices === undefined || cheapest === undefined) {
      prices = this.#never.slice();
      cheapest = new Int32Array(this.#places).fill(-1);
      this.#price.set(from, prices);
      this.#cheapest.set(from, cheapest);
    }
    if (price >= (prices[to] as number)) return;
    prices[to] = price;
    cheapest[to] = nodeClass;
  }
}
