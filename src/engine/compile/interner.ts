/** Numbers strings in the order in which they are first seen. */
export class Interner {
  readonly #ids = new Map<string, number>();
  readonly names: string[] = [];

  /** The number of a string, new if it has none. */
  id(name: string): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = this.names.length;
    this.#ids.set(name, id);
    this.names.push(name);
    return id;
  }

  /** The number of a string that was seen before, or undefined. */
  find(name: string): number | undefined {
    return this.#ids.get(name);
  }

  get size(): number {
    return this.names.length;
  }
}
