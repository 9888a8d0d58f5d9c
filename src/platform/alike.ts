/**
 * Gives values that are alike the same object, so that many of them take the room of one. What has not been asked for in a
 * long while is forgotten: then the next one alike is kept beside it, which costs room and nothing else.
 */
export class Alike {
  readonly #limit: number;
  #recent = new Map<string, unknown>();
  #older = new Map<string, unknown>();

  /** So many different values are remembered for certain, and up to twice as many. */
  constructor(limit = 4096) {
    this.#limit = limit;
  }

  /** The first value that was seen with the same content, in the same order. The value must be JSON, and never change. */
  of<T>(value: T): T {
    const key = JSON.stringify(value);
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent as T;
    const known = (this.#older.get(key) as T | undefined) ?? value;
    if (this.#recent.size >= this.#limit) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, known);
    return known;
  }
}
