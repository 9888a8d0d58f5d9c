/**
 * Which nodes go where at the least extra price, so that as few as possible are in a place that is full, and as many as
 * asked for are on-demand. A flow of least cost: again and again the chain of exchanges that gains most, where a healed rule
 * outweighs every price, is carried out, until none is left that gains. Nodes that are alike move together.
 */

/** Nodes that can be bought at the same places at the same prices. */
export interface NodeClass {
  readonly count: number;
  /** Where they are planned, which costs nothing extra. */
  readonly start: string;
  /** Extra price by place, never negative. */
  readonly extra: ReadonlyMap<string, number>;
}

/** Where nodes can be. */
export interface Places {
  /** The place that is never full. */
  readonly onDemand: string;
  /** So many of these nodes are asked to be there. */
  readonly wanted: number;
  /** How many of these nodes each other place takes. */
  room(place: string): number;
}

/** What a broken rule costs: more than any chain of exchanges. */
const BROKEN = 1e6;
/** What is less is rounding. */
const NOTHING = 1e-7;

/** The last step of a chain: a node of that class goes on from there. */
interface Step {
  readonly nodeClass: number;
  readonly from: string;
}

/** For each class, how many of its nodes are at each place. */
export function leastCostSpread(classes: readonly NodeClass[], places: Places): ReadonlyMap<string, number>[] {
  const spread = new Spread(classes, places);
  while (spread.improve());
  return spread.at;
}

class Spread {
  readonly at: Map<string, number>[];
  readonly #classes: readonly NodeClass[];
  readonly #places: Places;
  readonly #load = new Map<string, number>();

  constructor(classes: readonly NodeClass[], places: Places) {
    this.#classes = classes;
    this.#places = places;
    this.at = classes.map(({ count, start }) => new Map([[start, count]]));
    for (const { count, start } of classes) this.#add(start, count);
  }

  /** Carries out the chain that gains most; false when none gains. */
  improve(): boolean {
    const { cost, last } = this.#chains();
    let end: string | undefined;
    let least = -NOTHING;
    for (const place of last.keys()) {
      const whole = (cost.get(place) as number) + this.#costOfArriving(place);
      if (whole >= least) continue;
      least = whole;
      end = place;
    }
    if (end === undefined) return false;
    this.#carryOut(chainTo(end, last), end);
    return true;
  }

  /** The cheapest chain to each place from wherever it starts (Bellman-Ford; some exchanges give money back). */
  #chains(): { cost: Map<string, number>; last: Map<string, Step> } {
    const cost = new Map<string, number>();
    const last = new Map<string, Step>();
    for (const counts of this.at) {
      for (const [place, count] of counts) if (count > 0) cost.set(place, this.#costOfLeaving(place));
    }
    for (let changed = true; changed; ) {
      changed = false;
      for (const [nodeClass, { extra }] of this.#classes.entries()) {
        for (const [from, count] of this.at[nodeClass] as Map<string, number>) {
          if (count === 0) continue;
          const before = (cost.get(from) as number) - (extra.get(from) ?? 0);
          for (const [to, price] of extra) {
            if (to === from || before + price >= (cost.get(to) ?? Number.POSITIVE_INFINITY) - NOTHING) continue;
            cost.set(to, before + price);
            last.set(to, { nodeClass, from });
            changed = true;
          }
        }
      }
    }
    return { cost, last };
  }

  /** Moves as many nodes along the chain as there are, and as its ends have use for. */
  #carryOut(steps: readonly Step[], end: string): void {
    const { onDemand } = this.#places;
    const start = steps[0]?.from ?? end;
    let amount = Math.min(...steps.map(({ nodeClass, from }) => this.at[nodeClass]?.get(from) ?? 0));
    const crowd = start === onDemand ? 0 : -this.#spare(start);
    if (crowd > 0) amount = Math.min(amount, crowd);
    if (end !== onDemand) amount = Math.min(amount, Math.max(1, this.#spare(end)));
    else if (this.#missing() > 0) amount = Math.min(amount, this.#missing());
    for (const [index, { nodeClass, from }] of steps.entries()) {
      const counts = this.at[nodeClass] as Map<string, number>;
      const to = steps[index + 1]?.from ?? end;
      counts.set(from, (counts.get(from) ?? 0) - amount);
      counts.set(to, (counts.get(to) ?? 0) + amount);
    }
    this.#add(start, -amount);
    this.#add(end, amount);
  }

  #costOfLeaving(place: string): number {
    if (place === this.#places.onDemand) return this.#missing() >= 0 ? BROKEN : 0;
    return this.#spare(place) < 0 ? -BROKEN : 0;
  }

  #costOfArriving(place: string): number {
    if (place === this.#places.onDemand) return this.#missing() > 0 ? -BROKEN : 0;
    return this.#spare(place) <= 0 ? BROKEN : 0;
  }

  #missing(): number {
    return this.#places.wanted - (this.#load.get(this.#places.onDemand) ?? 0);
  }

  #spare(place: string): number {
    return this.#places.room(place) - (this.#load.get(place) ?? 0);
  }

  #add(place: string, count: number): void {
    this.#load.set(place, (this.#load.get(place) ?? 0) + count);
  }
}

function chainTo(end: string, last: ReadonlyMap<string, Step>): Step[] {
  const steps: Step[] = [];
  for (let step = last.get(end); step !== undefined; step = last.get(step.from)) steps.unshift(step);
  return steps;
}
