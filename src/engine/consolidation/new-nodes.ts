/**
 * Packs pods into new nodes, one node after another. Each node is opened for the largest remaining pod: with the option
 * that gives the most value for its price when filled with other remaining pods. At the end each node is switched to the
 * cheapest option that holds its pods.
 */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import type { PodClass } from '../compile/model.ts';
import type { FleetState } from './fleet-state.ts';
import type { MarketLadder } from './market-ladder.ts';
import { optionsFor } from './node-options.ts';

/** Options tried if the largest pod cannot be placed on the best one. */
const TRIES = 12;

/** Packs pods of one state. */
export class NewNodes {
  readonly #state: FleetState;
  readonly #ladder: MarketLadder;
  readonly #podWorth: Float64Array;
  readonly #left: Float64Array;
  /** Pods checked, as a measure of work. */
  looked = 0;

  constructor(state: FleetState, ladder: MarketLadder, podWorth: Float64Array) {
    this.#state = state;
    this.#ladder = ladder;
    this.#podWorth = podWorth;
    this.#left = new Float64Array(state.model.dimensions.size);
  }

  /**
   * Opens nodes for pods, sorted from large to small, and places them. Gives up and returns the pod that could not be
   * placed, if there is one or if the nodes would cost more than `most`.
   */
  pack(pods: readonly number[], zone: string, most: number): { price: number; stuck?: number } {
    const state = this.#state;
    let rest = pods;
    let price = 0;
    while (rest.length > 0) {
      const pivot = rest[0] as number;
      const node = this.#openFor(pivot, rest, zone);
      if (node < 0) return { price: Number.POSITIVE_INFINITY, stuck: pivot };
      rest = rest.filter((pod) => {
        if (!state.fits(state.classOf(pod), node) || !state.allows(pod, node)) return true;
        state.move(pod, node);
        return false;
      });
      this.#rightSize(node);
      price += state.nodePrice[node] as number;
      if (price > most) return { price };
    }
    return { price };
  }

  /** Opens the best node that may hold the pivot; -1 if there is none. */
  #openFor(pivot: number, rest: readonly number[], zone: string): number {
    const state = this.#state;
    const { optionPrice } = state.model.catalogue;
    const filter = state.compiled.podFilter[pivot] as number;
    const tier = this.#ladder.tier(filter, state.classOf(pivot));
    if (tier < 0) return -1;
    let total = 0;
    for (const pod of rest) total += this.#podWorth[pod] as number;
    const hopes = Array.from(this.#ladder.ladder(filter, tier, zone), (option) => ({
      option,
      ratio: (optionPrice[option] as number) / Math.min(total, this.#ladder.worthOf(option)),
    }));
    hopes.sort((a, b) => a.ratio - b.ratio || a.option - b.option);
    const rated: { option: number; ratio: number }[] = [];
    let best = Number.POSITIVE_INFINITY;
    for (const { option, ratio: atBest } of hopes) {
      // No filling can beat the full value of the machine or of the pods.
      if (atBest >= best) break;
      if (!state.supply.affords(option)) continue;
      const value = this.#value(option, pivot, rest);
      if (value === 0) continue;
      const ratio = (optionPrice[option] as number) / value;
      rated.push({ option, ratio });
      if (ratio < best) best = ratio;
    }
    rated.sort((a, b) => a.ratio - b.ratio || a.option - b.option);
    for (const { option } of rated.slice(0, TRIES)) {
      const node = this.#tryOpen(option, pivot);
      if (node >= 0) return node;
    }
    // The ladder is kept short; a pod with special rules may need an option that is not on it.
    for (const option of this.#ladder.byPrice(filter)) {
      if (this.#ladder.tierOf(option) !== tier || !state.supply.affords(option)) continue;
      const node = this.#tryOpen(option, pivot);
      if (node >= 0) return node;
    }
    return -1;
  }

  #tryOpen(option: number, pivot: number): number {
    const state = this.#state;
    const node = state.open(option);
    if (state.fits(state.classOf(pivot), node) && state.allows(pivot, node)) return node;
    state.close();
    return -1;
  }

  /** Value of the pods an option would hold; 0 if it does not hold the pivot. */
  #value(option: number, pivot: number, rest: readonly number[]): number {
    const { compiled, model } = this.#state;
    const { alloc, optionTemplate } = model.catalogue;
    const left = this.#left;
    const size = left.length;
    const row = (optionTemplate[option] as number) * size;
    for (let column = 0; column < size; column++) left[column] = alloc[row + column] as number;
    let value = 0;
    for (let at = 0; at < rest.length; at++) {
      const pod = rest[at] as number;
      const { requests } = model.classes[compiled.podClass[pod] as number] as PodClass;
      this.looked++;
      let fits = true;
      for (let column = 0; column < size; column++) {
        if ((requests[column] as number) > (left[column] as number) && requests[column] !== 0) {
          fits = false;
          break;
        }
      }
      if (fits) fits = hasBit((model.admitted[compiled.podFilter[pod] as number] as Admitted).options, option);
      if (!fits) {
        if (pod === pivot) return 0;
        continue;
      }
      for (let column = 0; column < size; column++) {
        left[column] = (left[column] as number) - (requests[column] as number);
      }
      value += this.#podWorth[pod] as number;
    }
    return value;
  }

  #rightSize(node: number): void {
    const state = this.#state;
    const [cheapest] = optionsFor(state, this.#ladder, node, { most: 1 });
    if (cheapest !== undefined && cheapest !== state.nodeOption[node]) state.exchange(node, cheapest);
  }
}
