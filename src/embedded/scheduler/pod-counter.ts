/** Counts matching placed pods per node. Updated on every placement instead of recounted for every pod to schedule. */
export class PodCounter<Subject> {
  readonly #counts: (subject: Subject) => boolean;
  #bySlot = new Int32Array(16);
  #total = 0;

  constructor(counts: (subject: Subject) => boolean) {
    this.#counts = counts;
  }

  get total(): number {
    return this.#total;
  }

  on(slot: number): number {
    return this.#bySlot[slot] ?? 0;
  }

  /** Counts a pod placed on a node, or removes it with -1. */
  note(subject: Subject, slot: number, sign: 1 | -1): void {
    if (!this.#counts(subject)) return;
    if (slot >= this.#bySlot.length) {
      const grown = new Int32Array(Math.max(slot + 1, 2 * this.#bySlot.length));
      grown.set(this.#bySlot);
      this.#bySlot = grown;
    }
    this.#bySlot[slot] = (this.#bySlot[slot] as number) + sign;
    this.#total += sign;
  }
}
