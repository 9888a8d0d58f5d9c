/**
 * Finds places for pods on nodes that stay: first fit, from the nodes most worth keeping to the least. Nodes are searched
 * in blocks. A block without room for a class of pods is remembered, since room on nodes that stay only shrinks.
 */
import type { PodClass } from '../compile/model.ts';
import { HOST } from '../topology/rules.ts';
import type { FleetState } from './fleet-state.ts';

const BLOCK = 32;
/** Limits of the search for one pod: nodes with room that are checked, and nodes in other zones that are skipped. */
const PROBES = 64;
const PASSED_OVER = 128;

/** The nodes of a state in order of preference. */
export class Receivers {
  readonly #state: FleetState;
  readonly #order: Int32Array;
  readonly #blocks: number;
  /** By block: the most free of each resource on any of its nodes, or more. */
  readonly #most: Float64Array;
  /** By class and block: 1 if a pod of the class fits on none of its nodes. */
  readonly #full: Uint8Array;
  /** Nodes that are being drained and receive no pods. */
  readonly #leaving: Uint8Array;
  /** Blocks in which this step placed pods. What was learnt about them since is forgotten if the step is rolled back. */
  readonly #used: Uint8Array;
  readonly #usedList: number[] = [];
  readonly #learnt: number[] = [];
  /** Nodes checked, as a measure of work. */
  looked = 0;

  constructor(state: FleetState, order: Int32Array) {
    this.#state = state;
    this.#order = order;
    this.#blocks = Math.ceil(order.length / BLOCK);
    this.#most = new Float64Array(this.#blocks * state.model.dimensions.size);
    this.#full = new Uint8Array(this.#blocks * state.model.classes.length);
    this.#leaving = new Uint8Array(state.nodeCount);
    this.#used = new Uint8Array(this.#blocks);
    for (let block = 0; block < this.#blocks; block++) this.#measure(block);
  }

  /** Starts a step in which these nodes receive no pods. */
  begin(leaving: readonly number[]): void {
    for (const node of leaving) this.#leaving[node] = 1;
  }

  /** Ends the step, and forgets what it learnt if it was rolled back. */
  end(leaving: readonly number[], takenBack: boolean): void {
    for (const node of leaving) this.#leaving[node] = 0;
    if (takenBack) for (const at of this.#learnt) this.#full[at] = 0;
    for (const block of this.#usedList) this.#used[block] = 0;
    this.#learnt.length = 0;
    this.#usedList.length = 0;
  }

  /** Whether any node has enough free resources for the pod, ignoring the rules. */
  haveRoom(pod: number): boolean {
    const podClass = this.#state.classOf(pod);
    for (let block = 0; block < this.#blocks; block++) {
      if (this.#firstFit(podClass, block) < this.#end(block)) return true;
    }
    return false;
  }

  /**
   * A node for the pod, or -1. A pod with topology rules about zones and the like stays in its domain if possible: then no
   * other pod's rules are affected, and the order of moves does not matter. It leaves its domain only with `far`.
   */
  find(pod: number, far: boolean): number {
    const { rules } = this.#state.classOf(pod).topology;
    const ruled = rules.some(({ key }) => key !== HOST);
    let node = ruled ? this.#search(pod, true) : -1;
    if (node < 0 && (far || !ruled)) node = this.#search(pod, false);
    return node;
  }

  #search(pod: number, near: boolean): number {
    const state = this.#state;
    const podClass = state.classOf(pod);
    let probes = 0;
    let passedOver = 0;
    for (let block = 0; block < this.#blocks; block++) {
      const end = this.#end(block);
      for (let at = this.#firstFit(podClass, block); at < end; at++) {
        const node = this.#order[at] as number;
        this.looked++;
        if (!state.fits(podClass, node) || state.gone[node] === 1) continue;
        if (this.#leaving[node] === 1) continue;
        if (near && !state.isNear(pod, node)) {
          if (++passedOver === PASSED_OVER) return -1;
          continue;
        }
        if (state.allows(pod, node)) {
          this.#use(block);
          return node;
        }
        if (++probes === PROBES) return -1;
      }
    }
    return -1;
  }

  #use(block: number): void {
    if (this.#used[block] === 1) return;
    this.#used[block] = 1;
    this.#usedList.push(block);
  }

  #end(block: number): number {
    return Math.min((block + 1) * BLOCK, this.#order.length);
  }

  /** The first position in a block with room for a class; the end of the block if there is none, which is then remembered. */
  #firstFit(podClass: PodClass, block: number): number {
    const memory = podClass.index * this.#blocks + block;
    const end = this.#end(block);
    if (this.#full[memory] === 1) return end;
    const { gone } = this.#state;
    if (this.#mayFit(podClass, block)) {
      for (let at = block * BLOCK; at < end; at++) {
        const node = this.#order[at] as number;
        this.looked++;
        if (gone[node] === 0 && this.#state.fits(podClass, node)) return at;
      }
      // Lets other classes be rejected quickly. Not for a block in use: a rollback would free its room again.
      if (this.#used[block] === 0) this.#measure(block);
    }
    this.#full[memory] = 1;
    if (this.#used[block] === 1) this.#learnt.push(memory);
    return end;
  }

  #mayFit({ requests }: PodClass, block: number): boolean {
    for (let column = 0; column < requests.length; column++) {
      if ((requests[column] as number) > (this.#most[block * requests.length + column] as number)) return false;
    }
    return true;
  }

  #measure(block: number): void {
    const { free, gone, model } = this.#state;
    const { size } = model.dimensions;
    this.#most.fill(0, block * size, (block + 1) * size);
    for (let position = block * BLOCK; position < this.#end(block); position++) {
      const node = this.#order[position] as number;
      if (gone[node] === 1) continue;
      for (let column = 0; column < size; column++) {
        const amount = free[node * size + column] as number;
        if (amount > (this.#most[block * size + column] as number)) this.#most[block * size + column] = amount;
      }
    }
  }
}
