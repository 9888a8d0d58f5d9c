/** Places pods on open nodes, first fit, skipping blocks of nodes without enough free resources. */
import type { PodClass } from '../compile/model.ts';
import type { PlacementState } from '../topology/placement-state.ts';

const BLOCK = 64;
/** Nodes compared if a pod has preferences about its neighbours. */
const COMPARED = 16;

/** An index over the nodes of a state by their free resources. */
export class OpenNodes {
  readonly #state: PlacementState;
  readonly #size: number;
  #most = new Float64Array(0);
  #blocks = 0;
  #known = 0;

  constructor(state: PlacementState) {
    this.#state = state;
    this.#size = state.model.dimensions.size;
  }

  /** Places up to `count` pods of a class on nodes that a filter admits; returns how many. */
  place(podClass: PodClass, filter: number, count: number): number {
    const state = this.#state;
    this.#extend();
    let left = count;
    for (let block = 0; block < this.#blocks && left > 0; block++) {
      if (!this.#blockFits(podClass, block)) continue;
      const end = Math.min((block + 1) * BLOCK, state.nodeCount);
      let fitted = false;
      for (let node = block * BLOCK; node < end && left > 0; node++) {
        let room = state.room(podClass, node, left);
        if (room === 0) continue;
        fitted = true;
        if (!state.accepts(filter, node)) continue;
        if (podClass.topology.rules.length === 0 && podClass.ports.length === 0) {
          state.place(podClass, node, room);
          left -= room;
          continue;
        }
        while (room-- > 0 && state.allows(podClass, node)) {
          const target = podClass.topology.wishes.length === 0 ? node : this.#leastRegret(podClass, filter, node);
          state.place(podClass, target, 1);
          left--;
          if (target !== node) room = state.room(podClass, node, left);
        }
      }
      if (!fitted) this.#refresh(block);
    }
    return count - left;
  }

  /** Of the next suitable nodes the one that satisfies most preferences. */
  #leastRegret(podClass: PodClass, filter: number, from: number): number {
    const state = this.#state;
    let best = from;
    let bestRegret = state.regret(podClass, from);
    let compared = 0;
    for (let node = from + 1; node < state.nodeCount && compared < COMPARED && bestRegret > 0; node++) {
      if (state.room(podClass, node, 1) === 0 || !state.accepts(filter, node) || !state.allows(podClass, node))
        continue;
      compared++;
      const regret = state.regret(podClass, node);
      if (regret < bestRegret) {
        best = node;
        bestRegret = regret;
      }
    }
    return best;
  }

  #blockFits(podClass: PodClass, block: number): boolean {
    const { requests } = podClass;
    for (let column = 0; column < this.#size; column++) {
      if ((requests[column] as number) > (this.#most[block * this.#size + column] as number)) return false;
    }
    return true;
  }

  #extend(): void {
    const { nodeCount } = this.#state;
    if (nodeCount === this.#known) return;
    const from = Math.floor(this.#known / BLOCK);
    this.#blocks = Math.ceil(nodeCount / BLOCK);
    const most = new Float64Array(this.#blocks * this.#size);
    most.set(this.#most);
    this.#most = most;
    this.#known = nodeCount;
    for (let block = from; block < this.#blocks; block++) this.#refresh(block);
  }

  #refresh(block: number): void {
    const { free, nodeCount } = this.#state;
    const at = block * this.#size;
    this.#most.fill(Number.NEGATIVE_INFINITY, at, at + this.#size);
    const end = Math.min((block + 1) * BLOCK, nodeCount);
    for (let node = block * BLOCK; node < end; node++) {
      for (let column = 0; column < this.#size; column++) {
        const amount = free[node * this.#size + column] as number;
        if (amount > (this.#most[at + column] as number)) this.#most[at + column] = amount;
      }
    }
  }
}
