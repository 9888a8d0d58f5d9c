/** Numbers pairs of numbers (below 2^26) in the order in which they are first seen. */
export class PairIds {
  readonly #ids = new Map<number, number>();

  id(a: number, b: number): number {
    const key = a * 2 ** 26 + b;
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#ids.size;
      this.#ids.set(key, id);
    }
    return id;
  }

  get size(): number {
    return this.#ids.size;
  }
}
