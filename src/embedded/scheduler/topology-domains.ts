/** Numbers the values of a topology key, so that pods per domain can be counted in an array. */
import { labelsOf, type NodeEntry } from './node-entry.ts';

export class TopologyDomains {
  readonly #key: string;
  readonly #ids = new Map<string, number>();
  #generations = new Int32Array(16);
  #bySlot = new Int32Array(16);

  constructor(key: string) {
    this.#key = key;
  }

  /** How many domains have a number; all numbers are below it. */
  get count(): number {
    return this.#ids.size;
  }

  /** The node's domain; -1 if it has none. */
  of(entry: NodeEntry): number {
    const { slot, generation } = entry;
    if (slot >= this.#bySlot.length) this.#grow(slot + 1);
    if (this.#generations[slot] !== generation) {
      this.#generations[slot] = generation;
      this.#bySlot[slot] = this.#idOf(labelsOf(entry)[this.#key]);
    }
    return this.#bySlot[slot] as number;
  }

  #idOf(value: string | undefined): number {
    if (value === undefined) return -1;
    const known = this.#ids.get(value);
    if (known !== undefined) return known;
    const id = this.#ids.size;
    this.#ids.set(value, id);
    return id;
  }

  #grow(atLeast: number): void {
    const size = Math.max(atLeast, 2 * this.#bySlot.length);
    const generations = new Int32Array(size);
    generations.set(this.#generations);
    const bySlot = new Int32Array(size);
    bySlot.set(this.#bySlot);
    this.#generations = generations;
    this.#bySlot = bySlot;
  }
}
