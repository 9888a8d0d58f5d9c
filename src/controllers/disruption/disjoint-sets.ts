/** Union-find over the numbers below `count`: which of them belong together. */
export class DisjointSets {
  readonly #parents: number[];

  constructor(count: number) {
    this.#parents = Array.from({ length: count }, (_, index) => index);
  }

  rootOf(index: number): number {
    let root = index;
    while (this.#parents[root] !== root) root = this.#parents[root] as number;
    this.#parents[index] = root;
    return root;
  }

  join([first, ...others]: readonly number[]): void {
    if (first === undefined) return;
    for (const other of others) this.#parents[this.rootOf(other)] = this.rootOf(first);
  }
}
