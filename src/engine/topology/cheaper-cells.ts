/**
 * Lets pods that count alike change places in a plan of cells. A spread over zones asks for so many pods in each and not for which
 * ones, so those go to a dear zone for which it makes the least difference: the small ones, mostly.
 */
import type { Model, PodClass } from '../compile/model.ts';
import type { Market, Places } from '../packing/market.ts';
import type { Slices } from '../packing/work.ts';
import type { DomainPlan, PlanRequest } from './domain-plan.ts';

/** Turns over all pairs of cells. */
const TURNS = 3;
/** With more cells than this there are too many pairs. */
const MOST_CELLS = 12;
/** Differences of prices below this are none. */
const TINY = 1e-12;

/** Exchanges pods of the plan, as far as that makes them cheaper; the plan stays as legal as it is. */
export function* intoCheaperCells(
  model: Model,
  market: Market,
  plan: DomainPlan,
  requests: readonly PlanRequest[],
): Slices<void> {
  const filterOf = new Map(requests.map(({ podClass, filter }) => [podClass.index, filter]));
  const alike = Map.groupBy(plan.classes.keys(), (position) => {
    const { kind, index } = model.classes[plan.classes[position] as number] as PodClass;
    return `${kind}/${filterOf.get(index)}`;
  });
  for (const positions of alike.values()) {
    const swap = new Swap(
      plan,
      positions.map((position) => {
        const podClass = model.classes[plan.classes[position] as number] as PodClass;
        return { position, podClass, places: market.places(podClass, filterOf.get(podClass.index) as number) };
      }),
    );
    if (swap.isWorthwhile()) swap.run();
    yield;
  }
}

interface Planned {
  position: number;
  readonly podClass: PodClass;
  readonly places: Places;
}

/** Exchanges among pods that count alike. */
class Swap {
  readonly #plan: DomainPlan;
  readonly #pods: readonly Planned[];

  constructor(plan: DomainPlan, pods: readonly Planned[]) {
    this.#plan = plan;
    this.#pods = pods;
  }

  /** Whether pods differ, prices differ, and nothing but prices decides. */
  isWorthwhile(): boolean {
    const [first] = this.#pods as [Planned];
    const cells = this.#cells();
    if (cells.length < 2 || cells.length > MOST_CELLS || first.podClass.topology.wishes.length > 0) return false;
    if (this.#pods.every(({ podClass }) => podClass.size === first.podClass.size)) return false;
    if (!this.#pods.every(({ places }) => places.tiers.every((tier) => tier === places.tier))) return false;
    return this.#pods.some((pod) =>
      cells.some((cell) => Math.abs(priceIn(pod, cell) - priceIn(pod, cells[0] as number)) > TINY),
    );
  }

  run(): void {
    const cells = this.#cells();
    for (let turn = 0; turn < TURNS; turn++) {
      let changed = false;
      for (const [at, one] of cells.entries()) {
        for (const other of cells.slice(at + 1)) if (this.#between(one, other)) changed = true;
      }
      if (!changed) return;
    }
  }

  #cells(): number[] {
    return [...new Set(this.#pods.map(({ position }) => this.#plan.cells[position] as number))].sort((a, b) => a - b);
  }

  /** Exchanges pods of two cells in pairs, those that gain most first. */
  #between(one: number, other: number): boolean {
    const gains = (from: number, to: number) =>
      this.#pods
        .filter(({ position }) => this.#plan.cells[position] === from)
        .map((pod) => ({ pod, gain: priceIn(pod, from) - priceIn(pod, to) }))
        .sort((a, b) => b.gain - a.gain || a.pod.position - b.pod.position);
    const there = gains(one, other);
    const back = gains(other, one);
    const most = Math.min(there.length, back.length);
    let pairs = 0;
    while (pairs < most && (there[pairs]?.gain ?? 0) + (back[pairs]?.gain ?? 0) > TINY) pairs++;
    // A place in the plan stays in its cell, and another pod takes it: what is counted step by step is the same as before.
    for (let pair = 0; pair < pairs; pair++) this.#exchange(there[pair]?.pod as Planned, back[pair]?.pod as Planned);
    return pairs > 0;
  }

  #exchange(a: Planned, b: Planned): void {
    [a.position, b.position] = [b.position, a.position];
    this.#plan.classes[a.position] = a.podClass.index;
    this.#plan.classes[b.position] = b.podClass.index;
  }
}

/** What a pod's share of a node costs in a cell. */
function priceIn({ places }: Planned, cell: number): number {
  const at = places.cells.indexOf(cell);
  return at < 0 ? Number.POSITIVE_INFINITY : (places.prices[at] as number);
}
