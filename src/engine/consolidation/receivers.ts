/**
 * Finds places for pods on nodes that stay: first fit in an order from the nodes most worth keeping to the least. Blocks of nodes in
 * which nothing of the size is free are skipped, and so is everything before the first node where a class still fits.
 */
import type { PodClass } from '../compile/model.ts';
import { HOST } from '../topology/rules.ts';
import type { FleetState } from './fleet-state.ts';

const BLOCK = 32;
/** Nodes with room that are asked for one pod before it is given up. */
const PROBES = 256;

/** The nodes of a state in an order of preference. */
export class Receivers {
  readonly #state: FleetState;
  readonly #order: Int32Array;
  readonly #size: number;
  readonly #most: Float64Array;
  readonly #first: Int32Array;
  /** Nodes that are being emptied and take nothing. */
  readonly #leaving: Uint8Array;
  /** Class and its first node before the step; block. To be put right when the step is taken back. */
  readonly #changedFirst: number[] = [];
  readonly #refreshed: number[] = [];
  /** Whether the step has found places: what is learnt about full nodes before that stays true when it is taken back. */
  #found = false;
  /** Nodes looked at, as a measure of work. */
  looked = 0;

  constructor(state: FleetState, order: Int32Array) {
    this.#state = state;
    this.#order = order;
    this.#size = state.model.dimensions.size;
    this.#most = new Float64Array(Math.ceil(order.length / BLOCK) * this.#size);
    this.#first = new Int32Array(state.model.classes.length);
    this.#leaving = new Uint8Array(state.nodeCount);
    for (let block = 0; block * BLOCK < order.length; block++) this.#measure(block);
  }

  /** Starts a step in which these nodes take nothing. */
  begin(leaving: readonly number[]): void {
    for (const node of leaving) this.#leaving[node] = 1;
    this.#changedFirst.length = 0;
    this.#refreshed.length = 0;
    this.#found = false;
  }

  /** Ends the step; when it was taken back (by now), what it taught about full nodes is forgotten. */
  end(leaving: readonly number[], takenBack: boolean): void {
    for (const node of leaving) this.#leaving[node] = 0;
    if (!takenBack) return;
    for (let at = this.#changedFirst.length - 2; at >= 0; at -= 2) {
      this.#first[this.#changedFirst[at] as number] = this.#changedFirst[at + 1] as number;
    }
    for (const block of new Set(this.#refreshed)) this.#measure(block);
  }

  /**
   * A node that can take the pod, or -1. A pod with rules about zones and the like rather stays in the one it is in: then
   * nobody else's rules are touched, and the order in which things are done does not matter.
   */
  find(pod: number): number {
    const { rules } = this.#state.classOf(pod).topology;
    let node = -1;
    if (rules.some(({ key }) => key !== HOST)) node = this.#search(pod, true);
    if (node < 0) node = this.#search(pod, false);
    if (node >= 0) this.#found = true;
    return node;
  }

  #search(pod: number, near: boolean): number {
    const state = this.#state;
    const podClass = state.classOf(pod);
    const order = this.#order;
    let probes = 0;
    let fitsBefore = false;
    const from = this.#first[podClass.index] as number;
    for (let at = from; at < order.length; ) {
      if (at % BLOCK === 0 && !this.#blockFits(podClass, at / BLOCK)) {
        at += BLOCK;
        continue;
      }
      const end = Math.min(order.length, at - (at % BLOCK) + BLOCK);
      const whole = at % BLOCK === 0;
      let fitted = false;
      for (; at < end; at++) {
        const node = order[at] as number;
        this.looked++;
        if (!state.fits(podClass, node) || state.gone[node] === 1) continue;
        fitted = true;
        if (!fitsBefore) {
          fitsBefore = true;
          this.#advance(podClass.index, at);
        }
        if (this.#leaving[node] === 1 || (near && !state.isNear(pod, node))) continue;
        if (state.allows(pod, node)) return node;
        if (++probes === PROBES) return -1;
      }
      if (whole && !fitted) {
        const block = Math.floor((end - 1) / BLOCK);
        this.#measure(block);
        if (this.#found) this.#refreshed.push(block);
      }
    }
    if (!fitsBefore) this.#advance(podClass.index, order.length);
    return -1;
  }

  #advance(index: number, to: number): void {
    if (this.#first[index] === to) return;
    if (this.#found) this.#changedFirst.push(index, this.#first[index] as number);
    this.#first[index] = to;
  }

  #blockFits({ requests }: PodClass, block: number): boolean {
    for (let column = 0; column < this.#size; column++) {
      if ((requests[column] as number) > (this.#most[block * this.#size + column] as number)) return false;
    }
    return true;
  }

  #measure(block: number): void {
    const { free, gone } = this.#state;
    const size = this.#size;
    const at = block * size;
    this.#most.fill(0, at, at + size);
    const end = Math.min((block + 1) * BLOCK, this.#order.length);
    for (let position = block * BLOCK; position < end; position++) {
      const node = this.#order[position] as number;
      if (gone[node] === 1) continue;
      for (let column = 0; column < size; column++) {
        const amount = free[node * size + column] as number;
        if (amount > (this.#most[at + column] as number)) this.#most[at + column] = amount;
      }
    }
  }
}
